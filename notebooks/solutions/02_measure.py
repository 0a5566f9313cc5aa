"""Solutions of 02_measure."""

# %%
def recall(ids, answers, k):
    # --- your code
    return len(set(ids[:k]) & set(answers)) / len(answers)
    # --- end
