module example.com/tiny/kv

go 1.19
