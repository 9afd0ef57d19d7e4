import type { Terminal } from "../../../world/terminal.ts";
import type { World } from "../../../world/world.ts";
import type { KeyContext } from "../../keys/actions.ts";
import type { KeyRemap } from "../../keys/key-file.ts";
import type { EditorRequest } from "../../editor/keymap.ts";
import type { EncodedImage, PixelSize } from "../../images/encode.ts";
import { detectImageSupport, reportsSixel, type ImageSupport } from "../../images/support.ts";
import type { KeyEvent, TerminalReply } from "../../keys/key-event.ts";
import { createKeyListener } from "../../keys/key-listener.ts";
import { colourDepthOf } from "../../screen/colour.ts";
import { handleTerminalEvents, suspendProcess } from "../../screen/terminal-events.ts";
import { cellSizeQuery, reflowsLines, terminalQueries } from "../../screen/modes.ts";
import { supportsLinks } from "../../screen/link-support.ts";
import { createSgrEncoder } from "../../screen/sgr.ts";
import { Screen, type LiveView, type SuspendOptions } from "../../screen/screen.ts";
import { clearNotification, encodeNotification, type NotificationMode } from "../../screen/notification.ts";
import { themeFor, type Theme } from "../../screen/theme.ts";
import { line, span } from "../../text/line.ts";
import type { StyledLine } from "../../text/style.ts";
import { wrap } from "../../text/wrap.ts";
import { withDrawnCursor } from "../../views/drawn-cursor.ts";
import { createPicker, pressPicker, viewPicker, type PickerOption, type Picker } from "../../views/picker.ts";
import { viewSpinner } from "../../views/spinner.ts";
import { QuestionBox } from "../approvals/question-box.ts";
import { AttentionWatch } from "./attention.ts";
import type { FrontEnd, FrontEndHost } from "./front-end.ts";
import { viewQueue } from "./queue-view.ts";
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
  /** How a person is called when a question waits or long work has ended (default: auto). */
  readonly notifications?: NotificationMode | undefined;
  /** Whether links are written (OSC 8). Default: on terminals known to show them. */
  readonly links?: "auto" | "on" | "off" | undefined;
  /** Whether the input has vim keys. */
  readonly vim?: boolean | undefined;
  /** Reads the user's file of key bindings; undefined if there is none. */
  readonly keyFile?: () => Promise<string | undefined>;
  /** Reads the input history of earlier sessions. */
  readonly history: () => Promise<readonly string[]>;
};

/** Rows of a list with its title and count, and at most half of the screen: what a list pushes off the screen does not come back. */
const maxPickerHeight = 12;

/** Milliseconds between two spinner frames. */
const spinnerInterval = 120;

/** Milliseconds without a key after which typing counts as finished and a question may open. */
const typingDelay = 1000;

/** The same after an answer: a held or repeated key must not answer the next question too. */
const answerDelay = 250;

/** Milliseconds a question must have been on the screen before Enter answers it with "yes", if that has the focus. */
const minViewTime = 400;

/** The screen front end: the transcript with an input below it, redrawn in place. */
export class ScreenFrontEnd implements FrontEnd {
  readonly echoesInput = false;
  readonly #options: ScreenFrontEndOptions;
  readonly #screen: Screen;
  readonly #input: PromptInput;
  readonly #questionBox: QuestionBox;
  readonly #typingDebounce: TypingDebounce;
  readonly #attention: AttentionWatch;
  readonly #replies: TerminalReply[] = [];
  readonly #handleBytes: (bytes: Uint8Array) => void;
  #stopListening: () => void;
  #theme: Theme | undefined;
  #picker: OpenPicker | undefined;
  #pickerCount = 0;
  /** The list drawn on the terminal. */
  #drawnPicker: number | undefined;
  /** When the question was drawn first; -Infinity once a key was pressed in it. */
  #questionDrawnAt = Number.NEGATIVE_INFINITY;
  /** Whether the user wants to answer now and keep the draft. */
  #wantsToAnswer = false;
  #keyRemap: KeyRemap | undefined;
  /** The names of the keys that do an action, if the user has bound some. */
  #keyLabels: ReadonlyMap<string, string> | undefined;
  #isSpinning = false;
  #isQuitRequested = false;
  #isRewindRequested = false;
  #isClosed = false;
  /** Whether another program uses the terminal, so that no input is left above its output. */
  #isReleased = false;

  constructor(options: ScreenFrontEndOptions) {
    const { terminal, world, host, theme, history } = options;
    this.#options = options;
    this.#theme = theme;
    this.#input = new PromptInput(
      { ...host, isBusy: () => host.busySince() !== undefined, hasQueued: () => host.queued().length > 0 },
      () => this.update(),
    );
    this.#questionBox = new QuestionBox(host);
    this.#typingDebounce = new TypingDebounce(world.clock, () => this.update());
    this.#attention = new AttentionWatch({
      clock: world.clock,
      notify: (text) => this.#notify(text),
      clear: () => this.#notify(undefined),
    });
    this.#screen = new Screen({
      terminal,
      clock: world.clock,
      sgr: this.#createSgr(),
      reflows: reflowsLines(world.env),
      live: (size) => this.#live(size),
    });
    this.#handleBytes = createKeyListener(world.clock, (event) => this.#press(event));
    this.#stopListening = this.#listen();
    void terminal.write(terminalQueries(world.env));
    void history().then((lines) => this.#input.addHistory(lines));
    if (options.vim === true)
      void import("../../editor/vim.ts").then(({ initialVim, pressVim }) =>
        this.#input.useVim({ state: initialVim, press: pressVim }),
      );
    void this.#loadKeys();
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
    const { isIdle } = this.#typingDebounce;
    const isTyping = !this.#wantsToAnswer && (!this.#input.isEmpty || !isIdle);
    this.print(this.#questionBox.refresh(terminal.size(), isTyping || this.#picker !== undefined));
    if (this.#questionBox.deferredTitle !== undefined && !isIdle) this.#typingDebounce.notifyWhenIdle();
    this.#screen.update();
    this.#attention.update({ question: this.#questionTitle(), busySince: host.busySince() });
    if (host.busySince() !== undefined && !this.#isSpinning) void this.#runSpinner();
  }

  async #loadKeys(): Promise<void> {
    const text = await this.#options.keyFile?.().catch(() => undefined);
    if (text === undefined) return;
    const [{ readKeyFile, keyLabelsOf }, { keyActions }] = await Promise.all([
      import("../../keys/key-file.ts"),
      import("../../keys/actions.ts"),
    ]);
    const { remap, problems } = await readKeyFile(text);
    this.#keyRemap = remap;
    this.#keyLabels = new Map(keyActions.map((action) => [action.name, keyLabelsOf(action, remap)[0] ?? "no key"]));
    this.#input.useKeys(remap);
    const width = this.width();
    this.print(problems.flatMap((each) => wrap(line(`keys.json: ${each}`, { tone: "warning" }), { width })));
  }

  keyRemap(): KeyRemap | undefined {
    return this.#keyRemap;
  }

  notifyIfAway(text: string): void {
    this.#attention.call(text);
  }

  keyLabel(action: string, standard: string): string {
    return this.#keyLabels?.get(action) ?? standard;
  }

  #questionTitle(): string | undefined {
    const { host } = this.#options;
    if (!this.#questionBox.isOpen) return undefined;
    const [question] = host.questions();
    return question?.approval.title ?? "an MCP server asks";
  }

  /** Calls the person, or takes that back. */
  #notify(text: string | undefined): void {
    const { terminal, world, notifications = "auto" } = this.#options;
    const sequence =
      text === undefined
        ? clearNotification(world.env, notifications)
        : encodeNotification(text, world.env, notifications);
    if (sequence !== "") void terminal.write(sequence);
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
      this.#picker?.done(undefined);
      this.#pickerCount += 1;
      this.#picker = { id: this.#pickerCount, picker, isFiltered, hasDraft: false, done };
      this.update();
    });
  }

  restoreDraft(marked: string): void {
    this.#input.restore(marked);
    this.update();
  }

  async suspendFor<Result>(work: () => Promise<Result>, options?: SuspendOptions): Promise<Result> {
    this.#isReleased = true;
    this.#screen.update();
    await this.#screen.suspend(options);
    this.#stopListening();
    try {
      return await work();
    } finally {
      this.#isReleased = false;
      this.#stopListening = this.#listen();
      this.#screen.resume();
    }
  }

  copyToClipboard(text: string): Promise<void> {
    return this.#options.terminal.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`);
  }

  get coloursDiffs(): boolean {
    return colourDepthOf(this.#options.world.env) === "true";
  }

  get imageSupport(): ImageSupport {
    return detectImageSupport(this.#options.world.env, this.#replies);
  }

  get cellSize(): PixelSize | undefined {
    return this.#replies.find((reply) => reply.type === "cell-size");
  }

  printImage(image: EncodedImage): void {
    this.#screen.printImage(image);
  }

  setTheme(theme: Theme | undefined): void {
    this.#theme = theme;
    this.#screen.repaint(this.#createSgr());
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#attention.close();
    this.#picker?.done(undefined);
    this.#isClosed = true;
    this.#typingDebounce.cancel();
    this.#screen.update();
    await this.#screen.close();
  }

  #listen(): () => void {
    const { terminal, host } = this.#options;
    return handleTerminalEvents({ terminal, screen: this.#screen }, { input: this.#handleBytes, quit: host.quit });
  }

  #createSgr(): ReturnType<typeof createSgrEncoder> {
    const { env } = this.#options.world;
    const background = this.#replies.find((reply) => reply.type === "background");
    const { links = "auto" } = this.#options;
    return createSgrEncoder({
      theme: this.#theme ?? themeFor(env, background?.rgb),
      depth: colourDepthOf(env),
      links: links === "auto" ? supportsLinks(env) : links === "on",
    });
  }

  /* Drawing. */

  #live({ columns, rows }: { readonly columns: number; readonly rows: number }): LiveView {
    const { host } = this.#options;
    if (this.#isClosed || this.#isReleased) return { lines: [] };
    const bottom = this.#viewBottom(columns, rows);
    const after = [
      ...this.#viewProgress(columns),
      ...this.#viewDeferred(columns),
      ...viewQueue(host.queued(), columns),
      ...bottom.lines,
      host.status(columns),
    ];
    const room = Math.max(0, rows - after.length - 1);
    const transcript = host.live();
    const shown = transcript.slice(Math.max(0, transcript.length - room));
    const first = shown.length + after.length - bottom.lines.length - 1;
    const { cursor } = bottom;
    const list = this.#picker?.id;
    const question = list === undefined ? this.#questionBox.current : undefined;
    return {
      lines: [...shown, ...after],
      onDrawn: () => {
        this.#drawnPicker = list;
        if (question !== undefined && !this.#questionBox.isAnswerable)
          this.#questionDrawnAt = this.#options.world.clock.elapsed();
        this.#questionBox.markDrawn(question);
      },
      isStreaming: host.busySince() !== undefined,
      ...(cursor === undefined ? {} : { cursor: { row: first + cursor.row, column: cursor.column } }),
    };
  }

  #viewProgress(columns: number): readonly StyledLine[] {
    const { host, world } = this.#options;
    const since = host.busySince();
    if (since === undefined) return [];
    const work = this.#questionBox.isOpen ? { label: "Waiting for you" } : (host.work() ?? { label: "Working" });
    return [viewSpinner({ ...work, elapsed: world.clock.elapsed() - since, hint: this.#progressHint() }, columns)];
  }

  #progressHint(): string {
    const isQuestion = this.#questionBox.isOpen;
    return !isQuestion && this.#options.host.canMoveToBackground()
      ? `Esc to cancel, ${this.keyLabel("background", "Ctrl-B")}: background`
      : "Esc to cancel";
  }

  #viewDeferred(columns: number): readonly StyledLine[] {
    const { deferredTitle } = this.#questionBox;
    if (deferredTitle === undefined || this.#picker !== undefined) return [];
    const key = this.keyLabel("answer-now", "Ctrl-G");
    const text = `A question opens when you stop typing. ${key} answers it now and keeps your draft. (${deferredTitle})`;
    return wrap([span(text, { tone: "warning" })], { width: columns });
  }

  #viewBottom(columns: number, rows: number): LiveView {
    const open = this.#picker;
    if (open === undefined) return this.#questionBox.view(columns, rows) ?? this.#inputView(columns, rows);
    const lines = viewPicker(open.picker, {
      width: columns,
      height: Math.min(maxPickerHeight, Math.max(4, rows >> 1)),
    });
    if (open.isFiltered || this.#input.isEmpty) return { lines };
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
    const usesDrawnCursor = this.#options.host.busySince() !== undefined && this.#input.isEmpty;
    return usesDrawnCursor ? withDrawnCursor(view) : view;
  }

  async #runSpinner(): Promise<void> {
    const { host, world } = this.#options;
    this.#isSpinning = true;
    while (host.busySince() !== undefined) {
      await world.clock.sleep(spinnerInterval);
      this.#screen.update();
    }
    this.#isSpinning = false;
  }

  /* Keys. */

  #press(event: KeyEvent): void {
    if (event.type === "reply") return this.#handleReply(event.reply);
    if (event.type === "focus") this.#attention.setFocus(event.isFocused);
    else this.#attention.pressKey();
    if (this.#picker !== undefined) this.#pressPicker(event, this.#picker);
    else if (this.#questionBox.isAnswerable) this.#pressQuestion(event);
    else if (this.#questionBox.deferredTitle !== undefined && isChord(this.#remapKey(event, "input"), "ctrl+g"))
      this.#wantsToAnswer = true;
    else this.#pressInput(event);
    this.update();
    this.#screen.updateNow();
  }

  #pressQuestion(pressed: KeyEvent): void {
    const event = this.#remapKey(pressed, "question");
    if (event === undefined) return;
    const isNew = this.#options.world.clock.elapsed() < this.#questionDrawnAt + minViewTime;
    if (isNew && isChord(event, "enter") && this.#questionBox.enterAllows) return;
    // Another key shows that the question was seen.
    this.#questionDrawnAt = Number.NEGATIVE_INFINITY;
    this.#questionBox.press(event);
    if (this.#questionBox.isOpen) return;
    this.#wantsToAnswer = false;
    this.#typingDebounce.restart(answerDelay);
  }

  #handleReply(reply: TerminalReply): void {
    this.#replies.push(reply);
    if (reportsSixel(reply)) void this.#options.terminal.write(cellSizeQuery);
    if (reply.type === "background" && this.#theme === undefined) this.#screen.repaint(this.#createSgr());
  }

  #pressPicker(event: KeyEvent, open: OpenPicker): void {
    if (!open.isFiltered && this.#isForInput(event, open)) {
      this.#picker = { ...open, hasDraft: true };
      return this.#pressInput(event);
    }
    const meant = this.#remapKey(event, "list");
    if (meant === undefined) return;
    const input = this.#remapKey(event, "input");
    const option = open.picker.options.find(({ chord }) => chord !== undefined && isChord(input, chord));
    const pressed = option === undefined ? pressPicker(open.picker, meant) : ({ type: "picked", option } as const);
    // An unseen list cannot be answered.
    if (pressed.type !== "open" && this.#drawnPicker !== open.id) return;
    this.#picker = pressed.type === "open" ? { ...open, picker: pressed.picker } : undefined;
    if (pressed.type !== "open") open.done(pressed.type === "picked" ? pressed.option : undefined);
  }

  /** Whether a key belongs to a message being written while a confirmation is open. */
  #isForInput(event: KeyEvent, { hasDraft }: OpenPicker): boolean {
    if (event.type !== "key") return true;
    if (!this.#input.isEmpty) return true;
    return event.chord === "enter" && hasDraft && !this.#typingDebounce.isIdle;
  }

  #pressInput(pressed: KeyEvent): void {
    const { host } = this.#options;
    const event = this.#remapKey(pressed, "input");
    if (event === undefined) return;
    if (event.type !== "focus") this.#typingDebounce.restart(typingDelay);
    const wasQuitRequested = this.#isQuitRequested;
    if (event.type !== "focus") this.#isQuitRequested = false;
    if (event.type === "key" && event.chord === "ctrl+b" && host.moveToBackground()) return;
    if (event.type === "key")
      switch (event.chord) {
        case "ctrl+o":
          return this.#input.unfoldPastes() ? undefined : host.expandCollapsed();
        case "alt+m":
          return host.switchToNextFavourite();
        case "ctrl+alt+r":
          return host.rewind();
        case "alt+escape":
          // Escape twice, faster than the terminal sends them apart.
          for (let count = 0; count < 2; count++) this.#pressInput({ type: "key", chord: "escape" });
          return;
        case "alt+t":
          return host.toggleThinking();
        case "shift+tab":
          return host.cycleApprovalMode();
        case "ctrl+c":
          return this.#interrupt(wasQuitRequested);
      }
    const request = this.#input.press(event);
    if (event.type !== "focus" && request?.type !== "cancel") this.#isRewindRequested = false;
    if (request !== undefined) this.#handleRequest(request);
  }

  /** The key a pressed one stands for by the user's bindings; undefined if it does nothing. */
  #remapKey(event: KeyEvent, context: KeyContext): KeyEvent | undefined {
    const remap = this.#keyRemap?.[context];
    if (event.type !== "key" || remap?.has(event.chord) !== true) return event;
    const chord = remap.get(event.chord);
    return chord === undefined ? undefined : { type: "key", chord };
  }

  /** Ctrl-C: cancels running work; else clears the input; else quits the second time. */
  #interrupt(wasQuitRequested: boolean): void {
    const { host } = this.#options;
    if (host.busySince() !== undefined) return host.cancel();
    if (!this.#input.isEmpty) return this.#input.clear();
    if (wasQuitRequested) return host.quit();
    this.#isQuitRequested = true;
    this.print([line("Press Ctrl-C again to quit.", { tone: "muted" })]);
  }

  /** The second Escape in an empty input rewinds. */
  #requestRewind(): void {
    if (!this.#input.isEmpty) return;
    this.#isRewindRequested = !this.#isRewindRequested;
    if (!this.#isRewindRequested) this.#options.host.rewind();
  }

  #handleRequest(request: EditorRequest): void {
    const { host, terminal } = this.#options;
    switch (request.type) {
      case "submit":
        return host.submit(request.text, request.sendAfter);
      case "take-back": {
        const marked = host.takeBackQueued();
        return marked === undefined ? undefined : this.#input.restore(marked);
      }
      case "cancel":
        return host.busySince() === undefined ? this.#requestRewind() : host.cancel();
      case "quit":
        return host.quit();
      case "suspend":
        return void suspendProcess({ terminal, screen: this.#screen });
      case "redraw":
        return this.#screen.repaint(this.#createSgr());
      case "open-editor":
        return void host.editPrompt(request.text).then((text) => {
          if (text !== undefined) this.#input.replace(text);
          this.update();
        });
    }
  }
}

const isChord = (event: KeyEvent | undefined, chord: string): boolean => event?.type === "key" && event.chord === chord;
