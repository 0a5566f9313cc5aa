"""Solutions of 14_index_on_disk."""

# %%
def filtered(scores, keep, k):
    # --- your code
    rows = np.flatnonzero(keep)
    return [int(i) for i in rows[np.argsort(-scores[rows], kind="stable")][:k]]
    # --- end
