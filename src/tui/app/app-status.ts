import type { StyledLine } from "../text/style.ts";
import type { AppParts } from "./app-parts.ts";
import type { CustomStatusLine } from "./custom-status-line.ts";
import { printError } from "./transcript/message.ts";
import { chatStatus, viewStatusLine } from "./status-line.ts";

/** The status line of the app, or the user's own. */
export class AppStatus {
  readonly #parts: AppParts;
  #custom: CustomStatusLine | undefined;

  constructor(parts: AppParts) {
    this.#parts = parts;
  }

  view(width: number): StyledLine {
    const { active, ide, options } = this.#parts;
    const { folder, isSandboxed } = options;
    const isTrusted = active.loaded.policy.trusted;
    const chat = active.chat;
    const status = chat && {
      ...chatStatus(chat),
      mode: active.mode,
      isTrusted,
      isSandboxed,
      ide: ide.client?.status,
    };
    if (status !== undefined) this.#custom?.update({ folder, ...status });
    return viewStatusLine(status && { ...status, custom: this.#custom?.text }, width);
  }

  /** Loads the user's own status line, if they have set one. A project cannot. */
  async loadCustom(): Promise<void> {
    const { frontEnd, options } = this.#parts;
    const { world, folder, loaded } = options;
    const command = loaded.settings["ui.statusLine"];
    if (command === undefined || command === "") return;
    const { CustomStatusLine } = await import("./custom-status-line.ts");
    this.#custom = new CustomStatusLine({
      world,
      command,
      folder,
      onChange: () => frontEnd.update(),
      onFailure: (problem) => printError(frontEnd, problem),
    });
    frontEnd.update();
  }
}
