import { useSignal } from '@preact/signals';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { refusalOf } from '../../state/accounts/refusal.ts';
import { agentPanelOf } from '../../state/agent-panel/agent-panel.ts';
import type { Desk } from '../../state/app.ts';
import type { ImportReport } from '../../state/servers/server-board.ts';
import { Dialog } from '../dialogs/dialog.tsx';
import { toCount } from '../panel.tsx';
import { useSubmit } from '../use-submit.ts';
import { FormEnd } from './server-fields.tsx';

interface ImportDialogProps {
  desk: Desk;
  onClose(): void;
}

/** Adds the servers of a file of another program. First it says what would happen, and then it is done. */
export function ImportDialog({ desk, onClose }: ImportDialogProps) {
  const { servers: board } = agentPanelOf(desk);
  const text = useSignal('');
  const plan = useSignal<ImportReport | undefined>(undefined);
  const fill = (given: string) => {
    text.value = given;
    plan.value = undefined; // it was about another text
  };
  const { busy, problem, onSubmit } = useSubmit(async () => {
    try {
      if (plan.value === undefined) plan.value = await board.import(text.value, true);
      else {
        await board.import(text.value, false);
        onClose();
      }
    } catch (error) {
      plan.value = undefined;
      return refusalOf(error);
    }
    return undefined;
  });
  const count = plan.value?.imported.length;
  const isDone = count === 0;
  return (
    <Dialog title="Import tool servers" onClose={onClose}>
      <form class="account-dialog server-form" onSubmit={isDone ? leave(onClose) : onSubmit}>
        <p class="soft">
          Other programs keep their servers in files with <code>mcpServers</code>, such as <code>mcp.json</code>.
          Nothing is added before you have seen what would be.
        </p>
        <FileField onText={fill} />
        <label>
          Text of the file
          <textarea
            rows={8}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            placeholder={'{ "mcpServers": { "notes": { "command": "npx", "args": ["-y", "my-notes-server"] } } }'}
            value={text.value}
            autofocus
            onInput={({ currentTarget }) => fill(currentTarget.value)}
          />
        </label>
        <div role="status">{plan.value && <Report report={plan.value} />}</div>
        <FormEnd
          problem={problem.value}
          busy={busy.value}
          verb={plan.value === undefined ? 'Check' : isDone ? 'Close' : `Add ${toCount(count, 'server')}`}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

/** There is nothing to add. */
const leave = (onClose: () => void) => (event: SubmitEvent) => {
  event.preventDefault();
  onClose();
};

const FileField = ({ onText }: { onText(text: string): void }) => (
  <label>
    File
    <input
      type="file"
      accept=".json,application/json"
      onChange={({ currentTarget }) => void currentTarget.files?.[0]?.text().then(onText)}
    />
  </label>
);

const Report = ({ report: { imported, skipped, errors, notes } }: { report: ImportReport }) => (
  <dl class="import-report">
    <Lines title={imported.length === 0 ? 'Nothing to add' : 'Would be added'} lines={imported} isAlways />
    <Lines title="Exist already, and stay as they are" lines={skipped} />
    <Lines title="Cannot be added" lines={errors} isProblem />
    <Lines title="To know" lines={notes} />
  </dl>
);

interface LinesProps {
  title: string;
  lines: readonly string[];
  isAlways?: boolean;
  isProblem?: boolean;
}

function Lines({ title, lines, isAlways = false, isProblem = false }: LinesProps) {
  if (lines.length === 0 && !isAlways) return null;
  return (
    <div>
      <dt>{title}</dt>
      {lines.map((line) => (
        <dd key={line} class={isProblem ? 'problem' : ''}>
          {toVisibleLine(line)}
        </dd>
      ))}
      {lines.length === 0 && <dd>Every server of the file exists already, or does not fit.</dd>}
    </div>
  );
}
