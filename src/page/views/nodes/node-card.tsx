import { type Signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { toCommandChanges } from '../../state/nodes/command-changes.ts';
import { type NodeEntry, nodeName } from '../../state/nodes/nodes.ts';
import { toDistance, toMoment } from '../../state/text/moment.ts';
import { LossQuestion } from '../dialogs/loss-question.tsx';
import { Icon } from '../icons.tsx';
import { RenameField } from '../rename-field.tsx';
import { CopyButton } from '../text/code.tsx';
import { useFocusAfter } from '../use-focus-after.ts';
import { ClaimedText, Claims } from './claimed-text.tsx';
import { CommandList } from './command-list.tsx';

interface NodeCardProps {
  app: App;
  desk: Desk;
  node: NodeEntry;
  /** The current time. */
  now: Signal<number>;
}

/** Number of commands shown until a person opens the rest. */
const MOST_COMMANDS = 12;

/** A paired machine: its name, state, commands and details, with buttons to rename and revoke it. */
export function NodeCard({ app, desk, node, now }: NodeCardProps) {
  const mode = useSignal<'shown' | 'renaming' | 'revoking' | 'details'>('shown');
  const { nodeId, commands } = node;
  const name = toVisibleLine(nodeName(node));
  const show = (what: typeof mode.value) => () => {
    mode.value = what;
  };
  const isOpen = mode.value === 'details';
  const element = useFocusAfter(mode.value);
  return (
    <li class="panel-row node" ref={element}>
      <div class="node-main">
        {mode.value === 'renaming' ? (
          <RenameField
            name={node.displayName ?? ''}
            placeholder="display name"
            save={(changed) => desk.nodes.rename(nodeId, changed)}
            onDone={show('shown')}
          />
        ) : (
          <div class="node-what">
            <h2>
              <ClaimedText text={nodeName(node)} />
            </h2>
            <Facts node={node} />
          </div>
        )}
        <p class={`node-state ${node.connected ? 'connected' : ''}`}>{toStateWords(node, now.value)}</p>
        {app.rights.changeNodes.value && (
          <NodeActions name={name} onRename={show('renaming')} onRevoke={show('revoking')} />
        )}
      </div>
      <CommandList
        label={`Commands of ${name}`}
        commands={toCommandChanges(commands, undefined)}
        most={MOST_COMMANDS}
      />
      {mode.value === 'revoking' && (
        <LossQuestion
          verb="Revoke"
          name={name}
          loss="permanently? It is disconnected at once. To reconnect, it has to be paired again."
          focusAfter="nodes-title"
          remove={() => desk.nodes.revoke(nodeId)}
          onKeep={show('shown')}
        />
      )}
      <button
        type="button"
        class="quiet panel-more"
        aria-expanded={isOpen}
        aria-label={`Details of ${name}`}
        onClick={show(isOpen ? 'shown' : 'details')}
      >
        <Icon name="chevron" />
        Details
      </button>
      {isOpen && <Details node={node} nowMs={now.value} />}
    </li>
  );
}

const toStateWords = ({ connected, leftAtMs }: NodeEntry, nowMs: number): string => {
  if (connected) return 'connected';
  return leftAtMs === undefined ? 'not connected yet' : `last seen ${toDistance(leftAtMs, nowMs)}`;
};

/** Platform, version and address, as reported now or when it was approved. */
function Facts({ node: { platform, version, remoteIp } }: Pick<NodeCardProps, 'node'>) {
  const facts = [platform, version, remoteIp].filter((fact) => fact !== undefined);
  return (
    <p class="node-facts">
      {facts.map((fact, index) => (
        <Fragment key={index}>
          {index > 0 && ' · '}
          <ClaimedText text={fact} />
        </Fragment>
      ))}
    </p>
  );
}

interface NodeActionsProps {
  name: string;
  onRename(): void;
  onRevoke(): void;
}

const NodeActions = ({ name, onRename, onRevoke }: NodeActionsProps) => (
  <div class="row-actions">
    <button
      type="button"
      class="quiet icon-only"
      data-opens="renaming"
      aria-label={`Rename ${name}`}
      title="Rename"
      onClick={onRename}
    >
      <Icon name="pencil" />
    </button>
    <button
      type="button"
      class="quiet icon-only"
      data-opens="revoking"
      aria-label={`Revoke ${name}`}
      title="Revoke"
      onClick={onRevoke}
    >
      <Icon name="bin" />
    </button>
  </div>
);

const Details = ({ node, nowMs }: { node: NodeEntry; nowMs: number }) => (
  <Claims
    said={{
      Device: node.deviceFamily,
      Model: node.modelIdentifier,
      Capabilities: node.caps.join(', ') || undefined,
      Approved: node.approvedAtMs === undefined ? undefined : toMoment(node.approvedAtMs, nowMs),
    }}
  >
    <div>
      <dt>ID for rules in config.json</dt>
      <dd>
        <ClaimedText text={node.nodeId} />
        <CopyButton text={node.nodeId} />
      </dd>
    </div>
  </Claims>
);
