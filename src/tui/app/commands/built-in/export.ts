import { composeSessionRequest, sessionModel } from "../../../../cli/sessions/compose-request.ts";
import { destinationOf, findWire, homeProviders, wireIds } from "../../../../providers/find.ts";
import { exportConversation } from "../../../../session/export/conversation.ts";
import { exportMarkdown } from "../../../../session/export/markdown.ts";
import { createRedactor } from "../../../../policy/secrets/redact.ts";
import { openSessionStore, type ReadSession } from "../../../../session/store/store.ts";
import type { Workspace } from "../../../../policy/workspace/open.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/export`: writes the session to a file in the workspace. An existing file is overwritten only if the user says so. */
export const exportSession = async (words: string, at: SlashCommandContext): Promise<void> => {
  const named = readArguments(words.split(/\s+/).filter((word) => word !== ""));
  if (named === undefined)
    return at.warn(
      `Unknown format "${words}". Available: ${formatNames}; or name a file that ends in .md, .html or .json.`,
    );
  const { format } = named;
  const { session, services } = at.opened();
  const text = await at.runWork({ label: "Reading the session" }, async () => {
    const saved = await openSessionStore(at.world, { home: at.home.data }).read(session.id);
    return format === "html" ? htmlOf(saved, at) : textOf(saved, format);
  });
  const wanted = named.file === "" ? `parley-${session.id}.${extensions[format] ?? "json"}` : named.file;
  const { workspace } = await services();
  const target = await chooseFile(wanted, workspace, at);
  if (target === undefined) return;
  const { file, identity } = target;
  await workspace.write(file, Buffer.from(text), identity);
  at.info(`Written to ${(await workspace.resolve(file)).path}`);
};

const extensions: { readonly [format: string]: string } = { markdown: "md", html: "html" };

/** Reads `[FORMAT] [FILE]`. Without a format, the ending of the file decides. */
const readArguments = (words: readonly string[]): { readonly format: string; readonly file: string } | undefined => {
  const [first = "markdown", ...rest] = words;
  const format = first === "md" ? "markdown" : first;
  if (formatOptions.some(({ id }) => id === format)) return { format, file: rest.join(" ") };
  const file = words.join(" ");
  const ending = { md: "markdown", markdown: "markdown", html: "html", json: "json" }[file.split(".").at(-1) ?? ""];
  return ending !== undefined && file.includes(".") ? { format: ending, file } : undefined;
};

/** The session as an HTML page. Says what is not in it. */
const htmlOf = async (saved: ReadSession, at: SlashCommandContext): Promise<string> => {
  const { exportHtml } = await import("../../../../inspect/export.tsx");
  const { html, notes } = await exportHtml(saved, {
    redactor: createRedactor({ env: at.world.env }),
    images: "bounded",
  });
  for (const note of notes) at.info(note);
  return html;
};

type ExportTarget = { readonly file: string; readonly identity: string };

/** The file to write, and its identity, so that only what the user saw is replaced. Asks if the file exists. */
const chooseFile = async (
  file: string,
  workspace: Pick<Workspace, "resolve">,
  at: SlashCommandContext,
): Promise<ExportTarget | undefined> => {
  const { identity } = await workspace.resolve(file);
  if (identity === "absent") return { file, identity };
  const other = await findFreeName(file, workspace);
  const answer = await at.pick(`${file} exists.`, [
    { id: "number", label: `Write ${other}` },
    { id: "overwrite", label: `Overwrite ${file}` },
  ]);
  if (answer === undefined) return undefined;
  return answer.id === "overwrite" ? { file, identity } : { file: other, identity: "absent" };
};

const findFreeName = async (file: string, workspace: Pick<Workspace, "resolve">): Promise<string> => {
  const [, stem = file, extension = ""] = /^(.*?)(\.[^./]*)?$/.exec(file) ?? [];
  for (let number = 2; ; number += 1) {
    const name = `${stem}-${number}${extension}`;
    if ((await workspace.resolve(name)).identity === "absent") return name;
  }
};

/** Export formats. */
export const formatOptions: readonly PickerOption[] = [
  { id: "markdown", label: "markdown", detail: "for reading" },
  { id: "html", label: "html", detail: "a page to share, secrets redacted" },
  { id: "json", label: "json", detail: "the whole conversation" },
  ...wireIds.map((id) => ({ id, label: id, detail: `request body for ${homeProviders[id]}` })),
];

const formatNames = formatOptions.map(({ id }) => id).join(", ");

const textOf = (session: ReadSession, format: string): string => {
  if (format === "markdown") return exportMarkdown(session);
  if (format === "json") return jsonText(exportConversation(session));
  const wire = findWire(format);
  const own = sessionModel(session);
  const target = own !== undefined && destinationOf(own).wire.id === wire ? own : homeProviders[wire];
  return jsonText(
    composeSessionRequest(session, target, { policy: { unsupportedMedia: "stub", thinking: "own" } }).body,
  );
};

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
