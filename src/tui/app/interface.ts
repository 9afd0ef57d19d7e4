import type { AgentEvent } from "../../agent/events.ts";
import type { Question } from "../../agent/agent.ts";
import { modelName } from "../../agent/model-ref.ts";
import type { Opened } from "../../agent/open.ts";
import type { Usage } from "../../wire/decode.ts";
import type { Terminal } from "../../world/terminal.ts";
import type { World } from "../../world/index.ts";
import { chosen, completingAt, menuFor, moveFocus, type Choice, type Menu } from "../editor/completion.ts";
import { edit } from "../editor/edit.ts";
import { press, type Wish } from "../editor/keymap.ts";
import { emptyEditor, type Editor } from "../editor/state.ts";
import { viewEditor } from "../editor/view.ts";
import type { KeyEvent } from "../keys/event.ts";
import { keyListener } from "../keys/listen.ts";
import { createHighlighter } from "../markdown/highlight.ts";
import { loadLexer, MarkdownStream, type MarkdownOptions } from "../markdown/stream.ts";
import { colourDepthOf } from "../screen/colour.ts";
import { attend, stopAndWait } from "../screen/lifetime.ts";
import { questions } from "../screen/modes.ts";
import { paintFor } from "../screen/paint.ts";
import { Screen, type Live } from "../screen/screen.ts";
import { dark, light, themeFor, type Theme } from "../screen/theme.ts";
import { cut, linesOf, span } from "../text/line.ts";
import type { Line } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";
import { createApproval, pressApproval, viewApproval, type ApprovalBox } from "../views/approval.ts";
import { createPicker, pressPicker, viewPicker, type Option, type Picker } from "../views/picker.ts";
import { viewProgress } from "../views/progress.ts";
import { approvalOf, decisionOf } from "./approvals.ts";
import { commandChoices, type Desk, type SlashCommand } from "./command.ts";
import { Feed } from "./feed.ts";
import { viewStatus } from "./status.ts";

/** What the interface is made of. */
export type InterfaceOptions = {
  readonly terminal: Terminal;
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly isTrusted: boolean;
  readonly isSandboxed: boolean;
  readonly theme: "auto" | "light" | "dark";
  readonly opened: Opened;
  /** Ends a session and opens another. */
  readonly reopen: (resume?: { readonly id: string }) => Promise<Opened>;
  readonly commands: readonly SlashCommand[];
  /** Runs the person's own editor on a text, while the terminal is theirs. */
  readonly edit: (text: string, name: string) => Promise<string | undefined>;
  readonly history: { readonly read: () => Promise<readonly string[]>; readonly add: (text: string) => Promise<void> };
  /** What is said before the first word. */
  readonly greeting: readonly Line[];
  readonly first?: string;
};

type Picking = { readonly picker: Picker; readonly done: (option: Option | undefined) => void };

/** How often the line moves that says that something is under way. */
const tick = 120;

/** The terminal interface: it sends requests to the agent and draws its events. */
export class Interface {
  readonly #options: InterfaceOptions;
  readonly #screen: Screen;
  readonly #feed: Feed;
  readonly #markdown: MarkdownOptions;
  readonly #ended: Promise<number>;
  #end: (code: number) => void = () => undefined;
  #opened: Opened;
  #editor: Editor;
  #menu: Menu | undefined;
  #box: { readonly box: ApprovalBox; readonly call: string } | undefined;
  #picking: Picking | undefined;
  #context = { used: 0, size: 0 };
  #last: Usage | undefined;
  #mode: string;
  #since: number | undefined;
  #wantsToLeave = false;
  #queue: string[] = [];

  constructor(options: InterfaceOptions, markdown: MarkdownOptions) {
    const { terminal, world, opened } = options;
    this.#options = options;
    this.#opened = opened;
    this.#mode = "default";
    this.#editor = emptyEditor([], terminal.size().columns);
    this.#ended = new Promise((resolve) => (this.#end = resolve));
    this.#markdown = markdown;
    this.#feed = new Feed({
      clock: world.clock,
      markdown,
      width: () => this.#width(),
      print: (lines) => this.#screen.print(lines),
    });
    this.#screen = new Screen({
      terminal,
      clock: world.clock,
      paint: paintFor({ theme: this.#theme(), depth: colourDepthOf(world.env) }),
      live: (size) => this.#live(size),
    });
  }

  /** Runs until the person leaves. Answers the exit code. */
  async run(): Promise<number> {
    const { terminal, world, greeting, first, history } = this.#options;
    const hear = keyListener(world.clock, (event) => this.#hear(event));
    const stop = attend({ terminal, screen: this.#screen }, { input: hear, leave: () => void this.#leave(0) });
    this.#screen.print(greeting);
    this.#screen.update();
    void terminal.write(questions);
    void history.read().then((lines) => (this.#editor = { ...this.#editor, history: lines }));
    void this.#refresh();
    if (first !== undefined) void this.#submit(first);
    const code = await this.#ended;
    await this.#opened.agent.cancel();
    stop();
    await this.#screen.close();
    await this.#opened.close();
    return code;
  }

  #width(): number {
    return this.#options.terminal.size().columns;
  }

  #theme(ground?: number): Theme {
    const { theme, world } = this.#options;
    if (theme === "auto") return themeFor(world.env, ground);
    return theme === "light" ? light : dark;
  }

  /* What is seen. */

  #live({ columns, rows }: { readonly columns: number; readonly rows: number }): Live {
    const { clock } = this.#options.world;
    const working = this.#since === undefined ? [] : [this.#progress(clock.elapsed() - this.#since, columns)];
    const status = [this.#status(columns)];
    const below = this.#below(columns, rows);
    const room = Math.max(0, rows - below.lines.length - working.length - status.length - 1);
    const feed = this.#feed.live();
    const shown = feed.slice(Math.max(0, feed.length - room));
    const before = [...shown, ...working];
    const cursor =
      below.cursor === undefined ? undefined : { row: before.length + below.cursor.row, column: below.cursor.column };
    return { lines: [...before, ...below.lines, ...status], ...(cursor === undefined ? {} : { cursor }) };
  }

  #progress(elapsed: number, columns: number): Line {
    const waits = this.#box !== undefined;
    return viewProgress({ label: waits ? "Waiting for you" : "Working", elapsed, hint: "Esc to cancel" }, columns);
  }

  #below(columns: number, rows: number): Live {
    if (this.#box !== undefined) return viewApproval(this.#box.box, columns);
    if (this.#picking !== undefined)
      return { lines: viewPicker(this.#picking.picker, { width: columns, height: Math.max(4, rows - 4) }) };
    this.#editor = edit(this.#editor, { type: "resize", columns });
    const hint = 'Ask for something, or "/help"';
    const { lines, cursor } = viewEditor(this.#editor, { height: Math.max(3, Math.floor(rows / 2)), hint });
    return { lines: [...lines, ...this.#menuLines(columns)], cursor };
  }

  #menuLines(columns: number): readonly Line[] {
    const menu = this.#menu;
    if (menu === undefined) return [];
    const first = Math.max(0, Math.min(menu.focus - 4, menu.choices.length - 8));
    return menu.choices
      .slice(first, first + 8)
      .map(({ item }, at) =>
        cut(
          [
            span(first + at === menu.focus ? "› " : "  ", { tone: "accent" }),
            span(item.label, first + at === menu.focus ? { bold: true } : {}),
            span(item.detail === undefined ? "" : `  ${item.detail}`, { tone: "muted" }),
          ],
          columns,
        ),
      );
  }

  #status(columns: number): Line {
    const { agent, servers } = this.#opened;
    const missing = (servers?.status() ?? []).filter(({ status }) => status.state === "failed").map(({ name }) => name);
    return viewStatus(
      {
        model: modelName(agent.model()),
        ...this.#context,
        last: this.#last,
        spent: agent.spent(),
        mode: this.#mode,
        isTrusted: this.#options.isTrusted,
        isSandboxed: this.#options.isSandboxed,
        missing,
      },
      columns,
    );
  }

  /* What is pressed. */

  #hear(event: KeyEvent): void {
    if (event.type === "reply") return this.#replied(event);
    if (this.#box !== undefined) this.#pressBox(event, this.#box);
    else if (this.#picking !== undefined) this.#pressPicker(event, this.#picking);
    else if (!this.#pressMenu(event)) this.#pressEditor(event);
    this.#screen.update();
  }

  #replied({ reply }: Extract<KeyEvent, { type: "reply" }>): void {
    if (reply.type !== "ground" || this.#options.theme !== "auto") return;
    const { env } = this.#options.world;
    this.#screen.repaint(paintFor({ theme: this.#theme(reply.rgb), depth: colourDepthOf(env) }));
  }

  #pressBox(event: KeyEvent, { box, call }: { readonly box: ApprovalBox; readonly call: string }): void {
    const pressed = pressApproval(box, event);
    const question = this.#questions().find((each) => keyOf(each) === call);
    if (pressed.type === "open") {
      this.#box = { box: pressed.box, call };
      return;
    }
    if (question === undefined) return this.#ask();
    const { agent } = this.#opened;
    if (pressed.type === "cancelled") void agent.cancel();
    else if (pressed.type === "refused")
      agent.decide(
        question.call,
        { type: "refuse", ...(pressed.reason === "" ? {} : { reason: pressed.reason }) },
        question.agent,
      );
    else if (pressed.id === "edit") void this.#editFirst(question);
    else {
      const decision = decisionOf(pressed.id);
      if (decision !== undefined) agent.decide(question.call, decision, question.agent);
    }
    this.#box = undefined;
    this.#ask();
  }

  async #editFirst(question: Question): Promise<void> {
    const { about } = question.approval;
    if (about.type !== "edit") return;
    const text = await this.#outside(about.after, about.path);
    const { agent } = this.#opened;
    if (text === undefined) return this.#ask();
    agent.decide(question.call, { type: "edit", text }, question.agent);
  }

  #pressPicker(event: KeyEvent, { picker, done }: Picking): void {
    const pressed = pressPicker(picker, event);
    if (pressed.type === "open") {
      this.#picking = { picker: pressed.picker, done };
      return;
    }
    this.#picking = undefined;
    done(pressed.type === "picked" ? pressed.option : undefined);
  }

  /** Keys that choose in an open menu; false for all others. */
  #pressMenu(event: KeyEvent): boolean {
    const menu = this.#menu;
    if (menu === undefined || event.type !== "key") return false;
    switch (event.chord) {
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
      case "enter": {
        const isWhole = event.chord === "enter" && menu.choices[menu.focus]?.item.insert === menu.completing.query;
        const action = chosen(menu);
        this.#menu = undefined;
        if (isWhole || action === undefined) return false;
        this.#editor = edit(this.#editor, action);
        this.#complete();
        return true;
      }
    }
    return false;
  }

  #pressEditor(event: KeyEvent): void {
    if (event.type !== "key" || event.chord !== "ctrl+c") this.#wantsToLeave = false;
    if (event.type === "key" && event.chord === "ctrl+o") {
      this.#feed.showsThoughts = !this.#feed.showsThoughts;
      return this.#say(
        this.#feed.showsThoughts ? "Thoughts are shown in full." : "Thoughts are shown by their subject.",
      );
    }
    if (event.type === "key" && event.chord === "escape" && this.#since !== undefined)
      return void this.#opened.agent.cancel();
    const { editor, wish } = press(this.#editor, event);
    this.#editor = editor;
    if (wish === undefined) this.#complete();
    else this.#grant(wish);
  }

  #grant(wish: Wish): void {
    switch (wish.type) {
      case "submit":
        this.#menu = undefined;
        return void this.#submit(wish.text);
      case "cancel":
        if (this.#since !== undefined) return void this.#opened.agent.cancel();
        if (this.#wantsToLeave) return void this.#leave(0);
        this.#wantsToLeave = true;
        return this.#say("Press Ctrl-C again to leave.");
      case "leave":
        return void this.#leave(0);
      case "stop":
        return void stopAndWait({ terminal: this.#options.terminal, screen: this.#screen });
      case "redraw":
        return this.#screen.update();
      case "edit-outside":
        return void this.#outside(wish.text, "message.md").then((text) => {
          if (text !== undefined) this.#editor = edit(this.#editor, { type: "replace", text: text.replace(/\n$/, "") });
          this.#screen.update();
        });
    }
  }

  /** Finds out what can be completed where the cursor is. */
  #complete(): void {
    const completing = completingAt(this.#editor);
    if (completing === undefined) {
      this.#menu = undefined;
      return;
    }
    if (completing.kind === "command") {
      this.#menu = menuFor(completing, commandChoices(this.#options.commands));
      return;
    }
    void this.#mentions(completing.query).then((choices) => {
      const now = completingAt(this.#editor);
      if (now === undefined || now.query !== completing.query) return;
      this.#menu = menuFor(completing, choices);
      this.#screen.update();
    });
  }

  async #mentions(query: string): Promise<readonly Choice[]> {
    const folder = query.slice(0, query.lastIndexOf("/") + 1);
    const { workspace } = await this.#opened.services();
    const listed = await workspace.list(folder === "" ? "." : folder, 1000).catch(() => []);
    const resources = (this.#opened.servers?.resources() ?? []).map(({ server, uri, name }) => ({
      label: `${server}:${uri}`,
      detail: name,
      insert: `${server}:${uri}`,
    }));
    const names = listed.map(({ name, kind }) => `${folder}${name}${kind === "folder" ? "/" : ""}`);
    return [
      ...names.map((name) => ({ label: name, insert: name.replaceAll(" ", "\\ ") })),
      ...(folder === "" ? resources : []),
    ];
  }

  /* What is done. */

  async #submit(text: string): Promise<void> {
    if (text.trim() === "") return;
    void this.#options.history.add(text);
    this.#screen.print([[], ...linesOf(text).flatMap((each, at) => this.#quoted(each, at))]);
    const command = /^\/([\w:-]+)(?:\s+(.*))?$/s.exec(text);
    if (command !== null) return this.#command(command[1] ?? "", command[2] ?? "");
    if (this.#since === undefined) return this.#turn(text);
    const { parts } = await this.#opened.attach(text, new AbortController().signal);
    if (this.#opened.agent.steer(parts)) this.#say("It will be heard after the calls under way.");
    else this.#queue.push(text);
  }

  #quoted(each: Line, at: number): readonly Line[] {
    return wrap(each, {
      width: this.#width(),
      first: [span(at === 0 ? "> " : "  ", { tone: "accent", bold: true })],
      rest: [span("  ")],
    });
  }

  async #command(name: string, words: string): Promise<void> {
    const command = this.#options.commands.find((each) => each.name === name);
    if (command === undefined) return this.#say(`There is no command /${name}. See /help.`);
    try {
      await command.run(words.trim(), this.desk());
    } catch (error) {
      this.#warn(error instanceof Error ? error.message : String(error));
    }
    await this.#refresh();
  }

  async #turn(text: string): Promise<void> {
    const { clock } = this.#options.world;
    this.#since = clock.elapsed();
    void this.#tickle();
    try {
      const { parts, told } = await this.#opened.attach(text, new AbortController().signal);
      for (const each of told) this.#say(each);
      for await (const event of this.#opened.agent.send(parts)) {
        this.#told(event);
        await this.#screen.room();
      }
    } catch (error) {
      this.#warn(`This is a bug in Parley. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    } finally {
      this.#since = undefined;
      this.#box = undefined;
    }
    await this.#refresh();
    const next = this.#queue.shift();
    if (next !== undefined) await this.#turn(next);
  }

  #told(event: AgentEvent): void {
    if (event.type === "usage") this.#last = event.usage;
    this.#feed.hear(event);
    this.#ask();
    if (event.type === "usage") void this.#refresh();
    this.#screen.update();
  }

  #questions(): readonly Question[] {
    return this.#opened.agent.waiting();
  }

  /** Shows the first question that waits. One that is shown stays until it is answered or gone. */
  #ask(): void {
    const waiting = this.#questions();
    const shown = waiting.find((each) => keyOf(each) === this.#box?.call);
    const [first] = waiting;
    if (first === undefined) this.#box = undefined;
    else if (shown === undefined)
      this.#box = { call: keyOf(first), box: createApproval(approvalOf(first, waiting.length - 1)) };
    else if (this.#box !== undefined) {
      const { box, call } = this.#box;
      this.#box = { call, box: { ...box, approval: approvalOf(shown, waiting.length - 1) } };
    }
    this.#screen.update();
  }

  async #tickle(): Promise<void> {
    while (this.#since !== undefined) {
      this.#screen.update();
      await this.#options.world.clock.sleep(tick);
    }
  }

  async #refresh(): Promise<void> {
    const { agent, services } = this.#opened;
    this.#context = await agent.context();
    this.#mode = (await services()).gate.mode();
    this.#screen.update();
  }

  async #outside(text: string, name: string): Promise<string | undefined> {
    await this.#screen.suspend();
    try {
      return await this.#options.edit(text, name);
    } finally {
      this.#screen.resume();
    }
  }

  async #leave(code: number): Promise<void> {
    await this.#opened.agent.cancel();
    this.#end(code);
  }

  #say(text: string): void {
    this.#screen.print(linesOf(text, { tone: "muted" }).flatMap((each) => wrap(each, { width: this.#width() })));
  }

  #warn(text: string): void {
    this.#screen.print(linesOf(text, { tone: "error" }).flatMap((each) => wrap(each, { width: this.#width() })));
  }

  #show(markdown: string): void {
    const stream = new MarkdownStream(this.#markdown, this.#width());
    stream.write(markdown);
    stream.end();
    void stream.settled().then(() => this.#screen.print([...stream.take(), []]));
  }

  /** What commands can do. */
  desk(): Desk {
    const { world, home, folder, reopen, commands, terminal } = this.#options;
    return {
      world,
      home,
      folder,
      opened: () => this.#opened,
      reopen: async (resume) => {
        await this.#opened.agent.cancel();
        this.#opened = await reopen(resume);
        this.#last = undefined;
      },
      say: (text) => this.#say(text),
      print: (lines) => this.#screen.print(lines),
      show: (markdown) => this.#show(markdown),
      warn: (text) => this.#warn(text),
      pick: (title, options, focused) =>
        new Promise((done) => {
          this.#picking = { picker: createPicker(title, options, focused), done };
          this.#screen.update();
        }),
      send: (text) => void this.#turn(text),
      edit: (text, name) => this.#outside(text, name),
      copy: (text) => terminal.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u0007`),
      setTheme: (theme) =>
        this.#screen.repaint(
          paintFor({
            theme: theme === "auto" ? this.#theme() : theme === "light" ? light : dark,
            depth: colourDepthOf(world.env),
          }),
        ),
      commands: () => commands,
      width: () => this.#width(),
      leave: () => void this.#leave(0),
    };
  }
}

const keyOf = ({ call, agent }: { readonly call: string; readonly agent?: string }): string => `${agent ?? ""} ${call}`;

/** Opens the interface and runs it until the person leaves. */
export const runInterface = async (options: InterfaceOptions): Promise<number> => {
  const later = { ready: (): void => undefined };
  const markdown: MarkdownOptions = {
    lexer: lateLexer(),
    highlighter: createHighlighter(),
    onReady: () => later.ready(),
  };
  return new Interface(options, markdown).run();
};

/** Reads Markdown once what reads it is there; until then, words as they are. */
const lateLexer = (): MarkdownOptions["lexer"] => {
  let lexer: MarkdownOptions["lexer"] = (text) => [
    { type: "paragraph", raw: text, text, tokens: [{ type: "text", raw: text, text }] },
  ];
  void loadLexer().then((loaded) => (lexer = loaded));
  return (text) => lexer(text);
};
