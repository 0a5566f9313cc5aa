"""Solutions of 05_hybrid."""

# %%
def my_rrf(lists, k=60):
    # --- your code
    total = {}
    for ids in lists:
        for rank, i in enumerate(ids, 1):
            total[i] = total.get(i, 0.0) + 1 / (k + rank)
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))
    # --- end
