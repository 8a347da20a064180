import { useSignal } from '@preact/signals';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Desk } from '../../state/app.ts';
import { KEY_PROVIDERS } from '../../state/first-run/model-setup.ts';

/** Servers on the machine of the daemon, and keys of providers, for people who may change the configuration. */
export function MoreModels({ desk: { guide, models }, onAdded }: { desk: Desk; onAdded(alias: string): void }) {
  const { setup } = guide;
  const provider = useSignal<(typeof KEY_PROVIDERS)[number]>('anthropic');
  const key = useSignal('');
  const busy = useSignal(false);
  const said = useSignal<string | undefined>(undefined);
  const run = async (act: () => Promise<string | undefined>, done: string, alias?: string) => {
    busy.value = true;
    said.value = 'Asking…';
    const problem = await act();
    said.value = problem ?? done;
    busy.value = false;
    if (problem !== undefined || alias === undefined) return;
    await models.refresh();
    onAdded(alias);
  };
  const keepKey = async () => {
    const { value: apiKey } = key;
    key.value = ''; // it is nowhere on the page any more
    const chosen = provider.value;
    await run(() => setup.keep(chosen, { provider: chosen, apiKey }), 'The key works and is kept.', chosen);
  };
  const servers = setup.servers.value;
  const own = models.rows.value.find(({ id }) => id === provider.value);
  return (
    <details class="more-models">
      <summary>Add a model</summary>
      <p>
        <button
          type="button"
          disabled={busy.value}
          onClick={() => void run(() => setup.discover(), 'These servers were found, if any.')}
        >
          Look for servers on this machine
        </button>
      </p>
      {servers?.length === 0 && <p class="hint">No server of models answers on the machine of Headgate.</p>}
      {servers?.map(({ name, baseUrl, models: offered }) => (
        <ul key={baseUrl} aria-label={name}>
          {offered.map((model) => (
            <li key={model}>
              {`${toVisibleLine(model)} · ${name} `}
              <button
                type="button"
                disabled={busy.value}
                onClick={() =>
                  void run(
                    () => setup.keep(model, { provider: 'openai-compatible', baseUrl, model }),
                    'The model is the default one now.',
                    model,
                  )
                }
              >
                {`Use ${toVisibleLine(model)}`}
              </button>
            </li>
          ))}
        </ul>
      ))}
      <p>
        <label>
          Provider{' '}
          <select
            value={provider.value}
            onChange={({ currentTarget: { value } }) => {
              provider.value = KEY_PROVIDERS.find((one) => one === value) ?? 'anthropic';
            }}
          >
            {KEY_PROVIDERS.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </p>
      <label>
        Key
        <input
          type="password"
          autocomplete="off"
          maxLength={4096}
          value={key.value}
          onInput={({ currentTarget }) => {
            key.value = currentTarget.value.trim();
          }}
        />
      </label>
      <p>
        <button type="button" disabled={busy.value || key.value === ''} onClick={() => void keepKey()}>
          Test and keep the key
        </button>{' '}
        {own && (
          <button
            type="button"
            disabled={busy.value}
            onClick={() => void run(() => setup.remove(own.id), 'The key is removed.', '')}
          >
            {`Remove the key of ${own.id}`}
          </button>
        )}
      </p>
      <p role="status">{said.value}</p>
      <p class="hint">
        The key is stored in config.json of the daemon, which only its user can read, and is never shown again.
      </p>
    </details>
  );
}
