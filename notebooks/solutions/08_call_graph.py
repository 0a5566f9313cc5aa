"""Solutions of 08_call_graph."""
# %%
def resolve_self(call, owner, classes):
    """`resolve_self("self.save", "Child", classes)` → "Base.save" where only Base has it"""
    name = call.removeprefix("self.")
    # --- your code
    def order(cls):
        sequences = [order(base) for base in classes[cls][1]] + [list(classes[cls][1])]
        found = [cls]
        while sequences := [s for s in sequences if s]:
            head = next(s[0] for s in sequences if not any(s[0] in other[1:] for other in sequences))
            found.append(head)
            sequences = [[x for x in s if x != head] for s in sequences]
        return found

    return next((f"{cls}.{name}" for cls in order(owner) if name in classes[cls][0]), None)
    # --- end
