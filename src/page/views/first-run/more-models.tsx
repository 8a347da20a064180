import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { LocalModelServer } from '../../../../protocol/methods/models.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Desk } from '../../state/app.ts';
import { type KeepModel, ModelSetup, toAlias } from '../../state/first-run/model-setup.ts';
import { ProviderFields } from './provider-fields.tsx';

/** Servers on the machine of the daemon, and keys of providers, for people who may change the configuration. */
export function MoreModels({ desk: { client, models }, onAdded }: { desk: Desk; onAdded(alias: string): void }) {
  const setup = useMemo(() => new ModelSetup(client), [client]);
  const busy = useSignal(false);
  const said = useSignal('');
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
  const keep: KeepModel = (candidate) => {
    const alias = toAlias(candidate);
    return run(() => setup.keep(alias, candidate), `${toVisibleLine(alias)} works, and is chosen for the task.`, alias);
  };
  return (
    <details class="more-models">
      <summary>Add a model</summary>
      <p>
        <button type="button" disabled={busy.value} onClick={() => void run(() => setup.discover(), '')}>
          Look for servers on this machine
        </button>
      </p>
      <FoundServers servers={setup.servers.value} busy={busy} keep={keep} />
      <ProviderFields
        busy={busy}
        keep={keep}
        added={models.rows.value.map(({ id }) => id)}
        remove={(alias) => void run(() => setup.remove(alias), `${toVisibleLine(alias)} and its key are removed.`, '')}
      />
      <p role="status">{said.value}</p>
    </details>
  );
}

interface FoundProps {
  /** Undefined until somebody looked for them. */
  servers: readonly LocalModelServer[] | undefined;
  busy: Signal<boolean>;
  keep: KeepModel;
}

function FoundServers({ servers, busy, keep }: FoundProps) {
  if (servers === undefined) return null;
  if (servers.length === 0)
    return <p class="hint">No server of models answers on the machine of Headgate, for example Ollama or LM Studio.</p>;
  return servers.map(({ name, baseUrl, models }) => (
    <section key={baseUrl} class="found-server">
      <h3>{name}</h3>
      <ul>
        {models.map((model) => (
          <li key={model}>
            <span>{toVisibleLine(model)}</span>
            <button
              type="button"
              disabled={busy.value}
              aria-label={`Use ${toVisibleLine(model)} of ${name}`}
              onClick={() => void keep({ provider: 'openai-compatible', baseUrl, model })}
            >
              Use
            </button>
          </li>
        ))}
      </ul>
    </section>
  ));
}
