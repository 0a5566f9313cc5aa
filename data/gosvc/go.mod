module gosvc

go 1.19
