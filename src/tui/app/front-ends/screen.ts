import type { Terminal } from "../../../world/terminal.ts";
import type { World } from "../../../world/world.ts";
import type { EditorRequest } from "../../editor/keymap.ts";
import type { EncodedImage, PixelSize } from "../../images/encode.ts";
import { detectImageSupport, reportsSixel, type ImageSupport } from "../../images/support.ts";
import type { KeyEvent, TerminalReply } from "../../keys/key-event.ts";
import { createKeyListener } from "../../keys/key-listener.ts";
import { colourDepthOf } from "../../screen/colour.ts";
import { handleTerminalEvents, suspendProcess } from "../../screen/terminal-events.ts";
import { cellSizeQuery, terminalQueries } from "../../screen/modes.ts";
import { createSgrEncoder } from "../../screen/sgr.ts";
import { Screen, type LiveView } from "../../screen/screen.ts";
import { themeFor, type Theme } from "../../screen/theme.ts";
import { line, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { withDrawnCursor } from "../../views/drawn-cursor.ts";
import { createPicker, pressPicker, viewPicker, type PickerOption, type Picker } from "../../views/picker.ts";
import { viewSpinner } from "../../views/spinner.ts";
import { QuestionBox } from "../approvals/question-box.ts";
import type { FrontEnd, FrontEndHost } from "./front-end.ts";
import { PromptInput } from "../input/prompt-input.ts";
import { TypingDebounce } from "./typing-debounce.ts";

type OpenPicker = {
  readonly id: number;
  readonly picker: Picker;
  /** Whether typed letters filter the list; if not, they are the user's next message. */
  readonly isFiltered: boolean;
  /** Whether a message was begun since the list opened. */
  readonly hasDraft: boolean;
  readonly done: (option: PickerOption | undefined) => void;
};

/** Options of the screen front end. */
export type ScreenFrontEndOptions = {
  readonly terminal: Terminal;
  readonly world: Pick<World, "clock" | "env">;
  readonly host: FrontEndHost;
  /** The chosen theme; undefined selects one that suits the terminal. */
  readonly theme: Theme | undefined;
  /** Reads the input history of earlier sessions. */
  readonly history: () => Promise<readonly string[]>;
};

/** Milliseconds between two spinner frames. */
const spinnerInterval = 120;

/** Milliseconds without a key after which typing counts as finished and a question may open. */
const typingDelay = 1000;

/** The same after an answer: a held or repeated key must not answer the next question too. */
const answerDelay = 250;

/** The screen front end: the transcript with an input below it, redrawn in place. */
export class ScreenFrontEnd implements FrontEnd {
  readonly #options: ScreenFrontEndOptions;
  readonly #screen: Screen;
  readonly #input: PromptInput;
  readonly #asking: QuestionBox;
  readonly #quiet: TypingDebounce;
  readonly #replies: TerminalReply[] = [];
  readonly #hear: (bytes: Uint8Array) => void;
  #stop: () => void;
  #theme: Theme | undefined;
  #picking: OpenPicker | undefined;
  #pickings = 0;
  /** The list drawn on the terminal. */
  #drawnList: number | undefined;
  /** Whether the user wants to answer now and keep the draft. */
  #wantsToAnswer = false;
  #isTicking = false;
  #wantsToLeave = false;
  #isClosed = false;

  constructor(options: ScreenFrontEndOptions) {
    const { terminal, world, host, theme, history } = options;
    this.#options = options;
    this.#theme = theme;
    this.#input = new PromptInput(host, () => this.update());
    this.#asking = new QuestionBox(host);
    this.#quiet = new TypingDebounce(world.clock, () => this.update());
    this.#screen = new Screen({ terminal, clock: world.clock, sgr: this.#paint(), live: (size) => this.#live(size) });
    this.#hear = createKeyListener(world.clock, (event) => this.#press(event));
    this.#stop = this.#listen();
    void terminal.write(terminalQueries);
    void history().then((lines) => this.#input.addHistory(lines));
  }

  width(): number {
    return this.#options.terminal.size().columns;
  }

  print(lines: readonly StyledLine[]): void {
    this.#screen.print(lines);
  }

  update(): void {
    const { host, terminal } = this.#options;
    // Read once: time passes between two reads, and a deferred question must get its notification.
    const { isIdle } = this.#quiet;
    const isTyping = !this.#wantsToAnswer && (!this.#input.isEmpty || !isIdle);
    this.print(this.#asking.refresh(terminal.size(), isTyping || this.#picking !== undefined));
    if (this.#asking.deferredAsker !== undefined && !isIdle) this.#quiet.notifyWhenIdle();
    this.#screen.update();
    if (host.busySince() !== undefined && !this.#isTicking) void this.#tickle();
  }

  waitForDrain(): Promise<void> {
    return this.#screen.waitForDrain();
  }

  pick(title: string, options: readonly PickerOption[], focused?: string): Promise<PickerOption | undefined> {
    return this.#openPicker(createPicker(title, options, focused), true);
  }

  confirm(title: string, options: readonly PickerOption[]): Promise<PickerOption | undefined> {
    return this.#openPicker(createPicker(title, options), false);
  }

  #openPicker(picker: Picker, isFiltered: boolean): Promise<PickerOption | undefined> {
    return new Promise((done) => {
      this.#picking?.done(undefined);
      this.#pickings += 1;
      this.#picking = { id: this.#pickings, picker, isFiltered, hasDraft: false, done };
      this.update();
    });
  }

  async suspendFor<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#screen.suspend();
    this.#stop();
    try {
      return await work();
    } finally {
      this.#stop = this.#listen();
      this.#screen.resume();
    }
  }

  copyToClipboard(text: string): Promise<void> {
    return this.#options.terminal.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  get imageSupport(): ImageSupport {
    return detectImageSupport(this.#options.world.env, this.#replies);
  }

  get cellSize(): PixelSize | undefined {
    return this.#replies.find((reply) => reply.type === "letter");
  }

  printImage(picture: EncodedImage): void {
    this.#screen.printImage(picture);
  }

  setTheme(theme: Theme | undefined): void {
    this.#theme = theme;
    this.#screen.repaint(this.#paint());
  }

  async close(): Promise<void> {
    this.#stop();
    this.#picking?.done(undefined);
    this.#isClosed = true;
    this.#quiet.cancel();
    this.#screen.update();
    await this.#screen.close();
  }

  #listen(): () => void {
    const { terminal, host } = this.#options;
    return handleTerminalEvents({ terminal, screen: this.#screen }, { input: this.#hear, quit: host.quit });
  }

  #paint(): ReturnType<typeof createSgrEncoder> {
    const { env } = this.#options.world;
    const ground = this.#replies.find((reply) => reply.type === "ground");
    return createSgrEncoder({ theme: this.#theme ?? themeFor(env, ground?.rgb), depth: colourDepthOf(env) });
  }

  /* Drawing. */

  #live({ columns, rows }: { readonly columns: number; readonly rows: number }): LiveView {
    const { host } = this.#options;
    if (this.#isClosed) return { lines: [] };
    const below = this.#below(columns, rows);
    const after = [...this.#progress(columns), ...this.#held(columns), ...below.lines, host.status(columns)];
    const room = Math.max(0, rows - after.length - 1);
    const feed = host.live();
    const shown = feed.slice(Math.max(0, feed.length - room));
    const first = shown.length + after.length - below.lines.length - 1;
    const { cursor } = below;
    const list = this.#picking?.id;
    const question = list === undefined ? this.#asking.current : undefined;
    return {
      lines: [...shown, ...after],
      onDrawn: () => {
        this.#drawnList = list;
        this.#asking.markDrawn(question);
      },
      isStreaming: host.busySince() !== undefined,
      ...(cursor === undefined ? {} : { cursor: { row: first + cursor.row, column: cursor.column } }),
    };
  }

  #progress(columns: number): readonly StyledLine[] {
    const { host, world } = this.#options;
    const since = host.busySince();
    if (since === undefined) return [];
    const label = this.#asking.isOpen ? "Waiting for you" : "Working";
    return [viewSpinner({ label, elapsed: world.clock.elapsed() - since, hint: "Esc to cancel" }, columns)];
  }

  #held(columns: number): readonly StyledLine[] {
    const { deferredAsker } = this.#asking;
    if (deferredAsker === undefined || this.#picking !== undefined) return [];
    const words = `A question opens when you stop typing. Ctrl-G answers it now and keeps your draft. (${deferredAsker})`;
    return wrap([span(words, { tone: "warning" })], { width: columns });
  }

  #below(columns: number, rows: number): LiveView {
    const picking = this.#picking;
    if (picking === undefined) return this.#asking.view(columns, rows) ?? this.#inputView(columns, rows);
    const lines = viewPicker(picking.picker, { width: columns, height: Math.max(4, rows - 4) });
    if (picking.isFiltered || this.#input.isEmpty) return { lines };
    const { lines: draft, cursor } = this.#input.view(columns, rows);
    return {
      lines: [...lines, ...draft],
      cursor: cursor === undefined ? undefined : { row: lines.length + cursor.row, column: cursor.column },
    };
  }

  /**
   * While output streams and the input is empty, the terminal's own cursor stays at the top of the live part, where no
   * resize can misplace it; a drawn cursor marks the input.
   */
  #inputView(columns: number, rows: number): LiveView {
    const view = this.#input.view(columns, rows);
    const isWatching = this.#options.host.busySince() !== undefined && this.#input.isEmpty;
    return isWatching ? withDrawnCursor(view) : view;
  }

  async #tickle(): Promise<void> {
    const { host, world } = this.#options;
    this.#isTicking = true;
    while (host.busySince() !== undefined) {
      await world.clock.sleep(spinnerInterval);
      this.#screen.update();
    }
    this.#isTicking = false;
  }

  /* Keys. */

  #press(event: KeyEvent): void {
    if (event.type === "reply") return this.#replied(event.reply);
    if (this.#picking !== undefined) this.#pressPicker(event, this.#picking);
    else if (this.#asking.isAnswerable) this.#pressQuestion(event);
    else if (this.#asking.deferredAsker !== undefined && event.type === "key" && event.chord === "ctrl+g")
      this.#wantsToAnswer = true;
    else this.#pressInput(event);
    this.update();
    this.#screen.updateNow();
  }

  #pressQuestion(event: KeyEvent): void {
    this.#asking.press(event);
    if (this.#asking.isOpen) return;
    this.#wantsToAnswer = false;
    this.#quiet.restart(answerDelay);
  }

  #replied(reply: TerminalReply): void {
    this.#replies.push(reply);
    if (reportsSixel(reply)) void this.#options.terminal.write(cellSizeQuery);
    if (reply.type === "ground" && this.#theme === undefined) this.#screen.repaint(this.#paint());
  }

  #pressPicker(event: KeyEvent, picking: OpenPicker): void {
    if (!picking.isFiltered && this.#isForInput(event, picking)) {
      this.#picking = { ...picking, hasDraft: true };
      return this.#pressInput(event);
    }
    const pressed = pressPicker(picking.picker, event);
    // An unseen list cannot be answered.
    if (pressed.type !== "open" && this.#drawnList !== picking.id) return;
    this.#picking = pressed.type === "open" ? { ...picking, picker: pressed.picker } : undefined;
    if (pressed.type !== "open") picking.done(pressed.type === "picked" ? pressed.option : undefined);
  }

  /** Whether a key belongs to a message being written while a confirmation is open. */
  #isForInput(event: KeyEvent, { hasDraft }: OpenPicker): boolean {
    if (event.type !== "key") return true;
    if (!this.#input.isEmpty) return true;
    return event.chord === "enter" && hasDraft && !this.#quiet.isIdle;
  }

  #pressInput(event: KeyEvent): void {
    const { host } = this.#options;
    if (event.type !== "focus") this.#quiet.restart(typingDelay);
    const wantedToLeave = this.#wantsToLeave;
    if (event.type !== "focus") this.#wantsToLeave = false;
    if (event.type === "key")
      switch (event.chord) {
        case "ctrl+o":
          return host.expandCollapsed();
        case "shift+tab":
          return host.cycleApprovalMode();
        case "ctrl+c":
          return this.#interrupt(wantedToLeave);
      }
    const wish = this.#input.press(event);
    if (wish !== undefined) this.#grant(wish);
  }

  /** Ctrl-C: cancels running work; else clears the input; else quits the second time. */
  #interrupt(wantedToLeave: boolean): void {
    const { host } = this.#options;
    if (host.busySince() !== undefined) return host.cancel();
    if (!this.#input.isEmpty) return this.#input.clear();
    if (wantedToLeave) return host.quit();
    this.#wantsToLeave = true;
    this.print([line("Press Ctrl-C again to quit.", { tone: "muted" })]);
  }

  #grant(wish: EditorRequest): void {
    const { host, terminal } = this.#options;
    switch (wish.type) {
      case "submit":
        return host.submit(wish.text);
      case "cancel":
        return host.busySince() === undefined ? undefined : host.cancel();
      case "leave":
        return host.quit();
      case "stop":
        return void suspendProcess({ terminal, screen: this.#screen });
      case "redraw":
        return this.#screen.repaint(this.#paint());
      case "edit-outside":
        return void host.editPrompt(wish.text).then((text) => {
          if (text !== undefined) this.#input.replace(text);
          this.update();
        });
    }
  }
}
