"""Solutions of 10_structure_in_text."""
# %%
def nearest_callers(chunk, caller_ids, cap):
    # --- your code
    def far(caller):
        return caller.rpartition("/")[0] != chunk.namespace

    return sorted(caller_ids, key=lambda caller: (far(caller), caller))[:cap]
    # --- end
