/** An edit of the input text. */
export type EditAction =
  | { readonly type: "insert"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "newline" }
  | { readonly type: "move"; readonly to: MoveTarget }
  | { readonly type: "up" }
  | { readonly type: "down" }
  /** Deletes the text between the cursor and the target. */
  | { readonly type: "delete"; readonly to: MoveTarget }
  /** Deletes the text and keeps it in the kill ring. */
  | { readonly type: "kill"; readonly to: MoveTarget }
  | { readonly type: "yank" }
  /** Replaces the yanked text by an older kill. */
  | { readonly type: "yank-older" }
  | { readonly type: "undo" }
  | { readonly type: "redo" }
  | { readonly type: "older" }
  | { readonly type: "newer" }
  /** Starts a history search, or finds the next older match. */
  | { readonly type: "search" }
  | { readonly type: "accept-search" }
  | { readonly type: "cancel-search" }
  /** Replaces the whole text, e.g. after an external editor. */
  | { readonly type: "replace"; readonly text: string }
  /** Puts a marked text before the draft, e.g. a queued message that was taken back. */
  | { readonly type: "restore"; readonly marked: string }
  /** Replaces all pastes by their text. */
  | { readonly type: "unfold" }
  /** Replaces a range by a completion. */
  | { readonly type: "complete"; readonly start: number; readonly end: number; readonly text: string }
  | { readonly type: "clear" }
  | { readonly type: "resize"; readonly columns: number };

/** Target of a movement or deletion. */
export type MoveTarget =
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "space-left"
  | "line-start"
  | "line-end"
  | "start"
  | "end";
