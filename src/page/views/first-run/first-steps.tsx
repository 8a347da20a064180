import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { wordsOf } from '../../../../protocol/words-of.ts';
import type { Desk } from '../../state/app.ts';
import { FIRST_TASK } from '../../state/first-run/guide.ts';
import { MORE_MODELS, toOrigin, toTestWords } from '../../state/first-run/guide-words.ts';
import { toChoices } from '../../state/model-choices.ts';
import css from '../../styles/first-steps.css?inline';
import { adoptStyles } from '../parts/adopt-styles.ts';
import { useSubmit } from '../use-submit.ts';
import { MoreModels } from './more-models.tsx';

adoptStyles(css);

/** A model, a folder and a first task, in an empty conversation. */
export function FirstSteps({ desk }: { desk: Desk }) {
  const { guide } = desk;
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const filled = new FormData(form);
    try {
      await guide.startTask({
        model: String(filled.get('model') ?? ''),
        workdir: String(filled.get('workdir')).trim(),
      });
      return undefined;
    } catch (error) {
      return wordsOf(error);
    }
  });
  return (
    <form class="first-steps" aria-labelledby="first-steps" onSubmit={onSubmit}>
      <h2 id="first-steps">First steps</h2>
      <p>Three steps show how Headgate works. Nothing is changed before you start the task.</p>
      <ModelStep desk={desk} />
      <fieldset>
        <legend>2. Choose a folder</legend>
        <label>
          Folder
          <input
            name="workdir"
            maxLength={4096}
            autocomplete="off"
            spellcheck={false}
            placeholder="the folder that Headgate was started with"
          />
        </label>
        <p class="hint">
          The agent reads here, and asks before it writes. Another folder must be one that the daemon allows.
        </p>
      </fieldset>
      <fieldset>
        <legend>3. Give it a task</legend>
        <p class="first-task">{FIRST_TASK}</p>
        <p class="hint">The agent will ask you before it writes the file.</p>
      </fieldset>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <footer>
        <button type="button" onClick={() => guide.leave()}>
          Not now
        </button>
        <button type="submit" class="primary" disabled={busy.value}>
          Start the task
        </button>
      </footer>
    </form>
  );
}

function ModelStep({ desk }: { desk: Desk }) {
  const { models, guide } = desk;
  const chosen = useSignal<string | undefined>(undefined);
  useEffect(() => void models.refresh(), [models]);
  const rows = models.rows.value;
  const [first] = rows;
  if (!first) return null;
  const alias = chosen.value ?? first.id;
  const words = new Map(toChoices(rows, { alias: first.id, name: first.name }).map((row) => [row.alias, row.words]));
  const tested = guide.tested.value.get(alias);
  return (
    <fieldset>
      <legend>1. Choose a model</legend>
      {rows.map((row) => (
        <label key={row.id} class="first-model">
          <input
            type="radio"
            name="model"
            value={row.id}
            checked={row.id === alias}
            onChange={() => {
              chosen.value = row.id;
            }}
          />
          <span>
            {words.get(row.id) ?? row.id} <span class="hint">{toOrigin(row)}</span>
          </span>
        </label>
      ))}
      <p>
        <button type="button" disabled={tested === 'waiting'} onClick={() => void guide.test(alias)}>
          Test this model
        </button>{' '}
        <span role="status">{tested && toTestWords(tested)}</span>
      </p>
      <MoreModels
        desk={desk}
        onAdded={(added) => {
          chosen.value = added === '' ? undefined : added;
        }}
      />
      <p class="hint">{MORE_MODELS}</p>
    </fieldset>
  );
}
