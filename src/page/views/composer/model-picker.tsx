import { useEffect } from 'preact/hooks';
import type { Effort } from '../../../../protocol/stream-events.ts';
import type { Desk } from '../../state/app.ts';
import type { Conversation } from '../../state/conversation/conversation.ts';
import { toChoices } from '../../state/model-choices.ts';
import type { Tab } from '../../state/tab.ts';

const WORDS: Record<Effort, string> = { low: 'low effort', medium: 'medium effort', high: 'high effort' };
const isEffort = (value: string): value is Effort => Object.hasOwn(WORDS, value);

interface ModelPickerProps {
  desk: Desk;
  tab: Tab;
  conversation: Conversation;
}

/** The model of the workstream and its effort, for the next run. */
export function ModelPicker({ desk, tab, conversation }: ModelPickerProps) {
  const { models, actions } = desk;
  const { model, modelAlias, effort } = conversation;
  const read = () => void models.refresh();
  useEffect(read, [models, modelAlias]);
  const choices = toChoices(models.rows.value, { alias: modelAlias, name: model });
  return (
    <span class="model-picker">
      <select
        aria-label="Model"
        title={`Model ${model || modelAlias}, from the next message on`}
        value={modelAlias}
        onFocus={read}
        onChange={({ currentTarget }) =>
          void pick(currentTarget, modelAlias, (model) => actions.update(tab, { model }))
        }
      >
        {choices.map(({ alias, words }) => (
          <option key={alias} value={alias}>
            {words}
          </option>
        ))}
      </select>
      <select
        aria-label="Effort"
        title="How much the model reasons, from the next message on"
        value={effort}
        onChange={({ currentTarget }) =>
          void pick(currentTarget, effort, async (value) => isEffort(value) && actions.update(tab, { effort: value }))
        }
      >
        {Object.entries(WORDS).map(([level, words]) => (
          <option key={level} value={level}>
            {words}
          </option>
        ))}
      </select>
    </span>
  );
}

/** Shows the earlier choice again if the new one was refused. */
async function pick(select: HTMLSelectElement, earlier: string, choose: (value: string) => Promise<boolean>) {
  if (!(await choose(select.value))) select.value = earlier;
}
