import type { McpRegistryServer } from '../../../../protocol/methods/mcp/mcp-registry.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { type RegistryChoice, type RegistrySearch, valuesOf } from '../../state/servers/registry-search.ts';
import { fieldsOf } from '../form-fields.ts';
import { useSubmit } from '../use-submit.ts';
import { FormEnd, LinesField, TextField } from './server-fields.tsx';

interface InstallFormProps {
  desk: Desk;
  registry: RegistrySearch;
  server: McpRegistryServer;
  choice: RegistryChoice;
  onBack(): void;
  onClose(): void;
}

/** Asks for the values that a server of the registry needs, and adds it in exactly the version that was found. */
export function InstallForm({ desk, registry, server, choice, onBack, onClose }: InstallFormProps) {
  const { servers: board } = agentPanelOf(desk);
  const { source, index, type, target, version, inputs } = choice;
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const fields = fieldsOf(form);
    const [name = '', network = ''] = [fields.name?.trim(), fields.network];
    const hosts = network.split(/\s+/).filter((host) => host !== '');
    const refused = await registry.install({
      registryName: server.name,
      version: server.version,
      digest: server.digest,
      source,
      index,
      ...(name !== '' && { name }),
      ...valuesOf(fields, choice),
      ...(hosts.length > 0 && { network: hosts }),
    });
    await board.read();
    if (refused === undefined) onClose();
    return refused;
  });
  return (
    <form class="account-dialog server-form" onSubmit={onSubmit}>
      <p>
        <code>{toVisibleLine([type, target, version].filter((word) => word !== '').join(' '))}</code>
      </p>
      <TextField
        name="name"
        label="Name here"
        value={undefined}
        placeholder={toVisibleLine(server.name.split('/').at(-1) ?? '')}
        maxLength={64}
        autofocus
      />
      {inputs.map((input) => (
        <InputField key={`${input.in}:${input.name}`} input={input} />
      ))}
      {source === 'package' && (
        <LinesField
          name="network"
          label="Hosts that it may connect to, one per line"
          value={undefined}
          placeholder="api.notes.example"
          hint="The registry of its packages is reached in any case."
        />
      )}
      <FormEnd problem={problem.value} busy={busy.value} verb="Install" leave="Back" onCancel={onBack} />
    </form>
  );
}

const PLACES = { variables: '', env: 'variable ', headers: 'header ' } as const;

/** A value that the author of the server asks for. */
function InputField({ input }: { input: RegistryChoice['inputs'][number] }) {
  const { name, description, isRequired, isSecret, choices, default: usual } = input;
  const label = `${PLACES[input.in]}${toVisibleLine(name)}${isRequired ? '' : ' (optional)'}`;
  const common = { name: `${input.in}:${name}`, label, hint: toVisibleLine(description) };
  const isNeeded = isRequired && usual === undefined;
  if (choices === undefined || choices.length === 0)
    return <TextField {...common} value={usual} isSecret={isSecret} required={isNeeded} />;
  return (
    <label>
      {label}
      <select name={common.name} required={isNeeded}>
        {!choices.includes(usual ?? '') && <option value="">choose…</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === usual}>
            {toVisibleLine(choice)}
          </option>
        ))}
      </select>
      {description !== '' && <span class="hint">{common.hint}</span>}
    </label>
  );
}
