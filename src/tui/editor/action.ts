/** What a key does to what is being written. */
export type EditAction =
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "newline" }
  | { readonly type: "move"; readonly to: MoveTarget }
  | { readonly type: "up" }
  | { readonly type: "down" }
  /** Removes what lies between the cursor and the target. */
  | { readonly type: "delete"; readonly to: MoveTarget }
  /** The same, and keeps it to be yanked. */
  | { readonly type: "kill"; readonly to: MoveTarget }
  | { readonly type: "yank" }
  /** Puts an older kill in the place of what was just yanked. */
  | { readonly type: "yank-older" }
  | { readonly type: "undo" }
  | { readonly type: "redo" }
  | { readonly type: "older" }
  | { readonly type: "newer" }
  /** Begins a search in the history, or goes on to the next older find. */
  | { readonly type: "search" }
  | { readonly type: "accept-search" }
  | { readonly type: "cancel-search" }
  /** Puts a text in the place of everything: from another editor, say. */
  | { readonly type: "replace"; readonly text: string }
  /** Puts a text in the place of a part: what was completed. */
  | { readonly type: "complete"; readonly start: number; readonly end: number; readonly text: string }
  | { readonly type: "clear" }
  | { readonly type: "resize"; readonly columns: number };

/** Where to move or delete to. */
export type MoveTarget =
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "blank-left"
  | "line-start"
  | "line-end"
  | "start"
  | "end";
