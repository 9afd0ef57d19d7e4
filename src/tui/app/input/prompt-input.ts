import {
  completeAction,
  findCompletion,
  acceptsOnEnter,
  createMenu,
  moveFocus,
  type CompletionQuery,
  type CompletionMenu,
} from "../../editor/completion.ts";
import { edit } from "../../editor/edit.ts";
import { handleKey, type EditorRequest } from "../../editor/keymap.ts";
import { emptyEditor, modeOf, type Editor } from "../../editor/state.ts";
import { viewEditor } from "../../editor/view.ts";
import type { pressVim, Vim } from "../../editor/vim.ts";
import type { KeyEvent } from "../../keys/key-event.ts";
import type { KeyRemap } from "../../keys/key-file.ts";
import type { LiveView } from "../../screen/screen.ts";
import { truncate, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import type { FrontEndHost } from "../front-ends/front-end.ts";

/** Choices visible at once. */
const visibleChoices = 8;

/** Height of the terminal from which on the input has a frame. */
const minRowsForFrame = 12;

/** The colour of the frame by what Enter does with the text. */
const frameTones = { shell: "warning", memory: "success", command: "muted", message: "muted" } as const;

/** The part of the application the input uses. */
export type PromptInputHost = Pick<FrontEndHost, "complete" | "resolvePaste" | "pasteClipboardImage"> & {
  /** Whether a submitted message would be queued. */
  readonly isBusy: () => boolean;
  readonly hasQueued: () => boolean;
};

/** Vim keys: their state, and what handles a key. Absent unless they are used. */
export type VimKeys = { readonly state: Vim; readonly press: typeof pressVim };

/** The prompt input with its completion menu. */
export class PromptInput {
  readonly #host: PromptInputHost;
  readonly #onChange: () => void;
  #editor: Editor = emptyEditor();
  #menu: CompletionMenu | undefined;
  #vim: VimKeys | undefined;
  /** The key sheet, while it is shown. */
  #keySheet: ((columns: number) => readonly StyledLine[]) | undefined;
  #keyRemap: KeyRemap | undefined;

  constructor(host: PromptInputHost, changed: () => void) {
    this.#host = host;
    this.#onChange = changed;
  }

  /** Adds prompts of earlier sessions before those of this one. */
  addHistory(history: readonly string[]): void {
    this.#editor = { ...this.#editor, history: [...history, ...this.#editor.history] };
  }

  /** Shows the user's own keys in the key sheet. */
  useKeys(remap: KeyRemap): void {
    this.#keyRemap = remap;
  }

  /** Uses vim keys from now on. */
  useVim(vim: VimKeys): void {
    this.#vim = vim;
  }

  get isEmpty(): boolean {
    return this.#editor.text === "";
  }

  clear(): void {
    this.#editor = edit(this.#editor, { type: "clear" });
    this.#menu = undefined;
  }

  /** Puts a message that was not sent before the draft. */
  restore(marked: string): void {
    this.#editor = edit(this.#editor, { type: "restore", marked });
  }

  /** Expands the pastes of the draft. Returns false if it has none. */
  unfoldPastes(): boolean {
    const before = this.#editor.text;
    this.#editor = edit(this.#editor, { type: "unfold" });
    return this.#editor.text !== before;
  }

  replace(text: string): void {
    this.#editor = edit(this.#editor, { type: "replace", text });
  }

  /** Handles a key. Returns what the key asks for beyond editing. */
  press(event: KeyEvent): EditorRequest | undefined {
    if (event.type !== "focus" && this.#pressKeySheet(event)) return undefined;
    if (event.type === "paste") {
      this.#paste(event.text);
      return undefined;
    }
    if (event.type === "key" && event.chord === "ctrl+v")
      return void this.#insertLater(this.#host.pasteClipboardImage());
    if (event.type === "key" && this.#pressMenu(event.chord)) return undefined;
    if (this.#pressVim(event)) return undefined;
    if (event.type === "key" && event.chord === "tab" && !this.#host.isBusy()) return undefined;
    if (event.type === "key" && event.chord === "up" && this.isEmpty && this.#host.hasQueued())
      return { type: "take-back" };
    const { editor, request } = handleKey(this.#editor, event);
    this.#editor = editor;
    if (request?.type === "submit") this.#menu = undefined;
    else if (event.type !== "focus") this.#complete();
    if (request?.type === "submit" && this.#vim !== undefined)
      this.#vim = { ...this.#vim, state: { ...this.#vim.state, mode: "insert", pending: "" } };
    return request;
  }

  view(columns: number, rows: number): LiveView {
    this.#editor = edit(this.#editor, { type: "resize", columns });
    const hint = columns < 60 ? "? for keys" : "Ask for something, / for commands, ? for keys";
    const { lines, cursor } = viewEditor(this.#editor, { height: Math.max(3, Math.floor(rows / 2)), hint });
    const below = this.#keySheet?.(columns) ?? this.#menuLines(columns);
    if (rows < minRowsForFrame) return { lines: [...lines, ...below], cursor };
    const style = { tone: frameTones[modeOf(this.#editor)] };
    const rule = [span("─".repeat(columns), style)];
    const label = this.#vim?.state.mode === "normal" ? ` NORMAL ${this.#vim.state.pending} `.replace(/ +$/, " ") : "";
    const top = label === "" ? rule : [span(`${"─".repeat(Math.max(0, columns - label.length - 2))}${label}──`, style)];
    return {
      lines: [top, ...lines, rule, ...below],
      cursor: { row: cursor.row + 1, column: cursor.column },
    };
  }

  /** F1, or `?` in an empty input, shows the key sheet; the next key closes it, and these and Escape do no more than that. */
  #pressKeySheet(event: KeyEvent): boolean {
    const isF1 = event.type === "key" && event.chord === "f1";
    const isQuestionMark = event.type === "text" && event.text === "?";
    if (this.#keySheet !== undefined) {
      this.#keySheet = undefined;
      return isF1 || isQuestionMark || (event.type === "key" && event.chord === "escape");
    }
    if (!isF1 && (!isQuestionMark || !this.isEmpty)) return false;
    void import("./key-sheet.ts").then(({ viewKeySheet }) => {
      // Keys typed while it loaded are a message.
      if (isF1 || this.isEmpty) this.#keySheet = (columns) => viewKeySheet(columns, this.#keyRemap);
      this.#onChange();
    });
    return true;
  }

  #pressVim(event: KeyEvent): boolean {
    const pressed = this.#vim?.press(this.#editor, this.#vim.state, event);
    if (this.#vim === undefined || pressed === undefined) return false;
    this.#editor = pressed.editor;
    this.#vim = { ...this.#vim, state: pressed.vim };
    this.#menu = undefined;
    return true;
  }

  /** Handles keys of an open menu; returns false for others. */
  #pressMenu(chord: string): boolean {
    const menu = this.#menu;
    if (menu === undefined) return false;
    switch (chord) {
      case "up":
        this.#menu = moveFocus(menu, -1);
        return true;
      case "down":
        this.#menu = moveFocus(menu, 1);
        return true;
      case "escape":
        this.#menu = undefined;
        return true;
      case "tab":
        this.#choose(menu);
        this.#complete();
        return true;
      case "enter": {
        if (!acceptsOnEnter(menu)) return false;
        const isFolder = menu.choices[menu.focus]?.item.insert.endsWith("/") === true;
        this.#choose(menu);
        if (isFolder) this.#complete();
        // Choosing a command, or its last argument, also submits it; choosing a file only inserts it.
        return menu.query.kind === "mention";
      }
    }
    return false;
  }

  #choose(menu: CompletionMenu): void {
    const action = completeAction(menu);
    this.#menu = undefined;
    if (action !== undefined) this.#editor = edit(this.#editor, action);
  }

  #paste(text: string): void {
    void this.#host.resolvePaste(text).then((meant) => {
      this.#editor = edit(
        this.#editor,
        meant === undefined ? { type: "paste", text } : { type: "insert", text: meant },
      );
      this.#menu = undefined;
      this.#onChange();
    });
  }

  async #insertLater(text: Promise<string | undefined>): Promise<void> {
    const inserted = await text;
    if (inserted !== undefined) this.#editor = edit(this.#editor, { type: "insert", text: inserted });
    this.#onChange();
  }

  /** Looks up completions at the cursor. */
  #complete(): void {
    const completing = findCompletion(this.#editor);
    if (completing === undefined) {
      this.#menu = undefined;
      return;
    }
    const found = this.#host.complete(completing);
    if (!(found instanceof Promise)) {
      this.#menu = createMenu(completing, found);
      return;
    }
    this.#menu = this.#narrowMenu(completing);
    void found.then((choices) => {
      const now = findCompletion(this.#editor);
      if (now?.query !== completing.query || now.start !== completing.start) return;
      this.#menu = createMenu(completing, choices);
      this.#onChange();
    });
  }

  /** Narrows the open menu while new choices load; a menu for another word is dropped. */
  #narrowMenu(completing: CompletionQuery): CompletionMenu | undefined {
    const menu = this.#menu;
    if (menu?.query.kind !== completing.kind || menu.query.start !== completing.start) return undefined;
    return createMenu(
      completing,
      menu.choices.map(({ item }) => item),
    );
  }

  #menuLines(columns: number): readonly StyledLine[] {
    const menu = this.#menu;
    if (menu === undefined) return [];
    const first = Math.max(0, Math.min(menu.focus - visibleChoices / 2, menu.choices.length - visibleChoices));
    return menu.choices.slice(first, first + visibleChoices).map(({ item: { label, detail } }, at) => {
      const isFocused = first + at === menu.focus;
      const about = detail === undefined ? "" : `  ${detail}`;
      return truncate(
        [
          span(isFocused ? "› " : "  ", { tone: "accent" }),
          span(label, isFocused ? { bold: true } : {}),
          span(about, { tone: "muted" }),
        ],
        columns,
      );
    });
  }
}
