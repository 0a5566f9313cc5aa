"""Solutions of 12_ablation."""
# %%
def unpaired(a, b, rng, draws=2000):
    # --- your code
    n = len(a)
    means = [a[rng.integers(0, n, n)].mean() - b[rng.integers(0, n, n)].mean() for _ in range(draws)]
    # --- end
    return tuple(np.quantile(means, [0.025, 0.975]))
