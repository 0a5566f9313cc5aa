"""Solutions of 07_steer_and_explain."""

# %%
def my_steer(q, boost, suppress, a):
    # --- your code
    moved = q + a * sum(boost, np.zeros_like(q)) - a * sum(suppress, np.zeros_like(q))
    return moved / np.linalg.norm(moved)
    # --- end
