import { useEffect, useRef, useState } from 'preact/hooks';
import type { Effort } from '../../../../protocol/stream-events.ts';
import type { Desk } from '../../state/app.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import { priceTitle, toChoices } from '../../state/model-choices.ts';
import type { Tab } from '../../state/tab.ts';

const WORDS: Record<Effort, string> = { low: 'low effort', medium: 'medium effort', high: 'high effort' };
const isEffort = (value: string): value is Effort => Object.hasOwn(WORDS, value);

interface ModelPickerProps {
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
  element: { current: HTMLSpanElement | null };
}

/** The model of the workstream and its effort, for the next run. */
export function ModelPicker({ desk, tab, conversation, element }: ModelPickerProps) {
  const { models, actions } = desk;
  const { model, modelAlias, effort } = conversation;
  const read = () => void models.refresh();
  useEffect(read, [models, modelAlias]);
  const choices = toChoices(models.rows.value, { alias: modelAlias, name: model });
  return (
    <span class="model-picker" id="model-picker" ref={element}>
      <Choice
        label="Model"
        title={`Model ${model || modelAlias}, from the next message on.${priceTitle(models.rows.value, modelAlias)}`}
        value={modelAlias}
        options={choices.map(({ alias, words }) => [alias, words])}
        onFocus={read}
        choose={(alias) => actions.update(tab, { model: alias })}
      />
      <Choice
        label="Effort"
        title="How much the model reasons, from the next message on"
        value={effort}
        options={Object.entries(WORDS)}
        choose={async (level) => isEffort(level) && actions.update(tab, { effort: level })}
      />
    </span>
  );
}

interface ChoiceProps {
  label: string;
  title: string;
  value: string;
  /** Values with their words. */
  options: readonly (readonly [string, string])[];
  onFocus?: () => void;
  /** Resolves to whether it was accepted. */
  choose(value: string): Promise<boolean>;
}

/**
 * A list that keeps showing what a person chose until the daemon has it: answers to earlier choices would otherwise move the
 * list while the person goes on with the arrow keys. Shows the earlier choice again if the new one was refused.
 */
function Choice({ label, title, value, options, onFocus, choose }: ChoiceProps) {
  const [chosen, setChosen] = useState<string>();
  const newest = useRef(0);
  const pick = async (picked: string) => {
    newest.current += 1;
    const mine = newest.current;
    setChosen(picked);
    await choose(picked);
    // The conversation has this choice now. If a newer one is on its way, that one is shown.
    if (newest.current === mine) setChosen(undefined);
  };
  return (
    <select
      aria-label={label}
      title={title}
      value={chosen ?? value}
      onFocus={onFocus}
      onChange={({ currentTarget }) => void pick(currentTarget.value)}
    >
      {options.map(([key, words]) => (
        <option key={key} value={key}>
          {words}
        </option>
      ))}
    </select>
  );
}
