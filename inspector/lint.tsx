import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { Code } from "../src/inspect/view/code.tsx";
import type { LintedBody } from "./lint-body.ts";
import { ModelPicker } from "./model-picker.tsx";
import { FindingList, NoteList } from "./note.tsx";

/** Checks a pasted request body, and converts it. The body stays in this page. */
export const LintView = ({ overview }: { readonly overview: Overview }): VNode => {
  const [text, setText] = useState(overview.body?.json ?? "");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("anthropic/claude-sonnet-5");
  const [result, setResult] = useState<LintedBody | undefined>(undefined);
  const check = async (model: string): Promise<void> => {
    // The rules of all APIs are as large as the rest of the page, so they are loaded when they are needed.
    const address = "/lint.js";
    const { lintBody } = (await import(address)) as typeof import("./lint-body.ts");
    setResult(lintBody(text, from, model));
  };
  return (
    <div class="page" tabIndex={0} role="region" aria-label="Lint">
      <h2>Lint a request body</h2>
      <p class="fact">Paste a body of any API, even a broken one. It is checked in this page and sent nowhere.</p>
      <textarea
        aria-label="Request body"
        spellcheck={false}
        rows={12}
        value={text}
        placeholder='{"model": "…", "messages": […]}'
        onInput={({ currentTarget: { value } }) => setText(value)}
      />
      <div class="controls">
        <label>
          API{" "}
          <select value={from} onChange={({ currentTarget: { value } }) => setFrom(value)}>
            <option value="">detect</option>
            {["gemini", "anthropic", "bedrock", "openai-chat", "openai-responses"].map((wire) => (
              <option value={wire}>{wire}</option>
            ))}
          </select>
        </label>
        <label>
          Convert to{" "}
          <ModelPicker
            targets={overview.targets}
            model={to}
            label="Model to convert to"
            onModel={(model) => {
              setTo(model);
              if (result !== undefined) void check(model);
            }}
          />
        </label>
        <button type="button" class="primary" onClick={() => void check(to)}>
          Check
        </button>
      </div>
      {result === undefined ? null : <Verdict result={result} />}
    </div>
  );
};

const Verdict = ({ result }: { readonly result: LintedBody }): VNode => {
  if (result.type === "error") return <p class="error">{result.message}</p>;
  const { wire, findings, model, notes, converted, convertedFindings } = result;
  return (
    <div class="verdicts" aria-live="polite">
      <h3>
        As it is <span class="tag">{wire}</span>
      </h3>
      <FindingList findings={findings} />
      <h3>Converted for {model}</h3>
      <FindingList findings={convertedFindings} />
      <NoteList notes={notes} />
      <Code text={converted} language="json" label="The converted body" />
    </div>
  );
};
