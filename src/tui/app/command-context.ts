import type { AppParts } from "./app-parts.ts";
import type { SlashCommandContext } from "./commands/slash-command.ts";
import { printError, printInfo } from "./transcript/message.ts";

/** The services slash commands can use. */
export const createCommandContext = (app: AppParts): SlashCommandContext => {
  const { active, frontEnd, markdown, prompts, quit } = app;
  const { home, folder, openEditor, login, parley, addFolder, history } = app.options;
  return {
    world: active.world,
    home,
    folder,
    loaded: () => active.loaded,
    opened: () => active.opened(),
    snapshots: () => active.snapshots(),
    requests: () => active.chat?.requests ?? [],
    commandSnapshots: () => active.commandSnapshots(),
    reopen: async (resume) => {
      await active.reopen(resume).catch((error: unknown) => {
        // Neither the wanted session nor the one before could be opened.
        if (active.chat === undefined) quit();
        throw error;
      });
      prompts.submitWaiting();
    },
    info: (text) => printInfo(frontEnd, text),
    warn: (text) => printError(frontEnd, text),
    print: (lines) => frontEnd.print(lines),
    printMarkdown: (text) => markdown.print(text),
    renderMarkdown: (text, columns) => markdown.render(text, columns),
    pick: (title, options, focused) => frontEnd.pick(title, options, focused),
    confirm: (title, options) => frontEnd.confirm(title, options),
    sendsWholeTurn: true,
    send: (marked, parts = []) => prompts.send({ marked, parts, isShown: true }),
    restoreDraft: (marked) => frontEnd.restoreDraft(marked),
    readInputHistory: history.read,
    openEditor: (text, name) => frontEnd.suspendFor(() => openEditor(text, name)),
    copyToClipboard: (text) => frontEnd.copyToClipboard(text),
    runShell: (command) => prompts.runShell(command),
    runWork: (view, work) => app.work.run(view, work),
    setTheme: (theme) => frontEnd.setTheme(theme),
    setMode: (mode) => active.setMode(mode),
    ide: () => app.ide.load(),
    parley,
    addFolder,
    login: (args) => frontEnd.suspendFor(() => login(args), { hidesInput: true }),
    commands: () => app.catalog.list(),
    width: () => frontEnd.width(),
    keyRemap: () => frontEnd.keyRemap(),
    quit: () => quit(),
  };
};
