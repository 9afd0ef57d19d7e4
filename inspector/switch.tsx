import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SwitchCheck } from "../src/agent/models/switch-check.ts";
import type { Overview } from "../src/inspect/server/inspection.ts";
import { formatCost, formatTokens } from "../src/inspect/view/format.ts";
import type { InspectorApi } from "./api.ts";
import { ModelPicker } from "./model-picker.tsx";
import { NoteList } from "./note.tsx";

export type SwitchViewProps = {
  readonly api: InspectorApi;
  readonly overview: Overview;
  readonly model: string;
  readonly onModel: (model: string) => void;
};

/** The cost and losses of continuing with another model. */
export const SwitchView = ({ api, overview, model, onModel }: SwitchViewProps): VNode => {
  const [found, setFound] = useState<SwitchCheck | string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    setFound(undefined);
    api.switchCheck(model).then(
      (check) => isGone || setFound(check),
      (error: unknown) => isGone || setFound((error as Error).message),
    );
    return () => {
      isGone = true;
    };
  }, [model, overview.revision]);
  return (
    <div class="page" tabIndex={0} role="region" aria-label="Switch check">
      <h2>Switch check</h2>
      <p class="fact">
        Continue {overview.model === undefined ? "this conversation" : `from ${overview.model}`} with another model.
        Nothing is sent.
      </p>
      <div class="controls">
        <ModelPicker targets={overview.targets} model={model} onModel={onModel} label="Model to switch to" />
      </div>
      {found === undefined ? <p class="fact">Checking…</p> : null}
      {typeof found === "string" ? <p class="error">{found}</p> : null}
      {found === undefined || typeof found === "string" ? null : <Check check={found} />}
    </div>
  );
};

const Check = ({ check }: { readonly check: SwitchCheck }): VNode => {
  const { known, tokens, context, fits, uncached, cost, stubbed, thinking, others } = check;
  return (
    <>
      <p class={fits ? "verdict verdict-good" : "verdict verdict-bad"}>
        {fits ? "It fits" : "It does not fit: compact it first, or choose a model with more"}: about{" "}
        {formatTokens(tokens)} of {formatTokens(context)} tokens
      </p>
      {known ? null : <p class="warning">This model is unknown; its limits are conservative defaults.</p>}
      <p>
        {uncached === 0
          ? "The model used last: its prompt cache may still hold the conversation."
          : `${formatTokens(uncached)} tokens are not in its prompt cache: ${formatCost(cost)} for the next request.`}
      </p>
      <h3>Media</h3>
      {stubbed.length === 0 ? <p class="fact">Nothing is lost.</p> : <NoteList notes={stubbed} />}
      <h3>Thinking</h3>
      {thinking.length === 0 ? <p class="fact">Nothing is lost.</p> : <NoteList notes={thinking} />}
      {others.length === 0 ? null : (
        <>
          <h3>Also</h3>
          <NoteList notes={others} />
        </>
      )}
    </>
  );
};
