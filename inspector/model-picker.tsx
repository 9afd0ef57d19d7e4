import type { VNode } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import type { Overview } from "../src/inspect/server/inspection.ts";

export type ModelPickerProps = {
  readonly targets: Overview["targets"];
  readonly model: string;
  readonly onModel: (model: string) => void;
  readonly label?: string;
};

/** Chooses a model by name. Any model of a known provider can be typed. */
export const ModelPicker = ({ targets, model, onModel, label = "Model" }: ModelPickerProps): VNode => {
  const list = useId();
  const [text, setText] = useState(model);
  useEffect(() => setText(model), [model]);
  const choose = (): void => {
    if (text.trim() !== "" && text !== model) onModel(text.trim());
  };
  return (
    <>
      <input
        class="model-picker"
        list={list}
        value={text}
        aria-label={label}
        spellcheck={false}
        autocomplete="off"
        placeholder="provider/model"
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          if (targets.some((target) => target.model === value)) onModel(value);
        }}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onChange={choose}
        onKeyDown={({ key }) => {
          if (key === "Enter") choose();
        }}
      />
      <datalist id={list}>
        {targets.map((target) => (
          <option value={target.model}>{target.wire}</option>
        ))}
      </datalist>
    </>
  );
};
