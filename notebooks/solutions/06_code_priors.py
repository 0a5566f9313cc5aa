"""Solutions of 06_code_priors."""

# %%
def damp_deprecated(query, chunk, score):
    # --- your code
    asked = "deprecated" in query.lower()
    return score / 2 if "deprecated" in chunk.doc.lower() and not asked else score
    # --- end
