import { useSignal } from '@preact/signals';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import { textsOf } from '../../state/servers/server-draft.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { fieldsOf } from '../form-fields.ts';
import { Choice } from '../rows/choice.tsx';
import { useSubmit } from '../use-submit.ts';
import { FormEnd, LinesField, TextField } from './server-fields.tsx';

interface ServerDialogProps {
  desk: Desk;
  /** Undefined for a new server. */
  server: McpServer | undefined;
  onClose(): void;
}

type Transport = McpServer['transport'];

const TRANSPORTS: readonly (readonly [Transport, string])[] = [
  ['stdio', 'A program on this machine'],
  ['streamable-http', 'An address (streamable HTTP)'],
];

/** The form to add or change a tool server. */
export function ServerDialog({ desk, server, onClose }: ServerDialogProps) {
  const { servers: board } = agentPanelOf(desk);
  const transport = useSignal<Transport>(server?.transport ?? 'stdio');
  const { busy, problem, onSubmit } = useSubmit(async (form) => {
    const refused = await board.save({ ...fieldsOf(form), transport: transport.value }, server);
    if (refused === undefined) onClose();
    return refused;
  });
  const texts = server && textsOf(server);
  const isMasked =
    server !== undefined &&
    [texts?.env, texts?.headers, texts?.args, texts?.url, texts?.clientSecret].join().includes('***');
  return (
    <Dialog title={server ? `Edit ${server.name}` : 'Add a tool server'} onClose={onClose}>
      <form class="account-dialog server-form" onSubmit={onSubmit}>
        <TextField
          name="name"
          label="Name (letters, digits, “.”, “_” and “-”)"
          value={texts?.name}
          maxLength={64}
          required
          autofocus
        />
        <Choice
          label="What it is"
          value={transport.value}
          options={TRANSPORTS}
          onChoose={(chosen) => {
            transport.value = chosen;
          }}
        />
        {isMasked && <p class="soft">Values that are set are shown as ***. Leave *** in place to keep such a value.</p>}
        {transport.value === 'stdio' ? <ProgramFields server={server} /> : <AddressFields server={server} />}
        <CommonFields server={server} />
        <FormEnd problem={problem.value} busy={busy.value} verb={server ? 'Save' : 'Add'} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

function ProgramFields({ server }: { server: McpServer | undefined }) {
  const texts = server && textsOf(server);
  return (
    <>
      <TextField
        name="command"
        label="Command"
        value={texts?.command}
        placeholder="such as npx, uvx or /opt/notes/server"
        required
      />
      <LinesField name="args" label="Arguments, one per line" value={texts?.args} placeholder={'-y\nmy-notes-server'} />
      <LinesField
        name="env"
        label="Variables, one NAME=value per line"
        value={texts?.env}
        placeholder="NOTES_TOKEN=…"
        hint="They are kept encrypted, and shown as *** afterwards."
      />
      <LinesField
        name="network"
        label="Hosts that it may connect to, one per line"
        value={texts?.network}
        placeholder="api.notes.example"
        hint={
          server
            ? 'Without any, it has no network.'
            : 'Without any, only commands such as npx and uvx have network: to the registry of their packages.'
        }
      />
      <LinesField
        name="folders"
        label="Folders that it may read, one per line"
        value={texts?.folders}
        placeholder="/home/me/notes"
      />
      <label class="check">
        <input type="checkbox" name="writesFolders" defaultChecked={server?.writesFolders} />
        It may also change these folders
      </label>
    </>
  );
}

function AddressFields({ server }: { server: McpServer | undefined }) {
  const texts = server && textsOf(server);
  const hasAccounts = useSignal(server?.authType === 'oauth_user');
  return (
    <>
      <TextField
        name="url"
        label="Address"
        value={texts?.url}
        placeholder="https://tracker.example/mcp"
        inputMode="url"
        required
      />
      <LinesField
        name="headers"
        label="Headers, one “Name: value” per line"
        value={texts?.headers}
        placeholder="Authorization: Bearer …"
        hint="They are kept encrypted, and shown as *** afterwards. At another host, their values have to be written again."
      />
      <label class="check">
        <input
          type="checkbox"
          name="hasAccounts"
          checked={hasAccounts.value}
          onChange={({ currentTarget }) => {
            hasAccounts.value = currentTarget.checked;
          }}
        />
        Each person uses it with an account of their own (OAuth)
      </label>
      {hasAccounts.value && <AccountFields server={server} />}
    </>
  );
}

function AccountFields({ server }: { server: McpServer | undefined }) {
  const texts = server && textsOf(server);
  return (
    <>
      <TextField
        name="scopes"
        label="Rights (scopes) to ask for, with spaces between them"
        value={texts?.scopes}
        hint="Without any, those that the server names."
      />
      <TextField
        name="clientId"
        label="Client id"
        value={texts?.clientId}
        hint="Only for providers at which you have registered Headgate yourself."
      />
      <TextField
        name="issuer"
        label="Issuer of the provider"
        value={texts?.issuer}
        inputMode="url"
        hint="The provider that gave you this id. It is used with no other."
      />
      <TextField name="clientSecret" label="Client secret" value={texts?.clientSecret} isSecret />
    </>
  );
}

const CommonFields = ({ server }: { server: McpServer | undefined }) => (
  <>
    <TextField
      name="timeoutSecs"
      label="Time limit of a call in seconds"
      value={server && String(server.timeoutSecs)}
      placeholder="120"
      inputMode="numeric"
    />
    <label class="check">
      <input type="checkbox" name="autoApprove" defaultChecked={server?.autoApprove} />
      Its tools run without a question
    </label>
  </>
);
