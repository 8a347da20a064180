import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import { Icon } from '../icons.tsx';
import { Panel, toCount } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { CopyButton } from '../text/code.tsx';
import { useNow } from '../use-now.ts';
import { NodeCard } from './node-card.tsx';
import { PairingCard } from './pairing-card.tsx';

interface NodesViewProps {
  app: App;
  desk: Desk;
}

/** The paired machines and the pairing requests. */
export function NodesView({ app, desk }: NodesViewProps) {
  const { nodes: board } = desk;
  const now = useNow(app.now);
  useEffect(() => board.follow(), [board]);
  const nodes = board.nodes.value;
  const asking = board.asking.value;
  const waiting = board.waiting.value;
  const mayDecide = app.rights.changeNodes.value;
  return (
    <Panel name="nodes" title="Nodes" count={toCount(nodes?.length, 'node')} desk={desk}>
      <ReadingNotice of={[board.reading]} />
      <p class="hidden-text" role="status">
        {waiting > 0 && `${toCount(waiting, 'machine')} waiting to be paired`}
      </p>
      {asking.length > 0 && (
        <ul aria-label="Pairing requests">
          {asking.map((one) => (
            <PairingCard
              key={one.request.requestId}
              desk={desk}
              asking={one}
              known={nodes?.find(({ nodeId }) => nodeId === one.request.nodeId)}
              now={now}
            />
          ))}
        </ul>
      )}
      {nodes?.length === 0 && asking.length === 0 && <NoNodes mayDecide={mayDecide} />}
      {nodes !== undefined && nodes.length > 0 && (
        <ul aria-label="Paired nodes">
          {nodes.map((node) => (
            <NodeCard key={node.nodeId} app={app} desk={desk} node={node} now={now} />
          ))}
        </ul>
      )}
      {nodes !== undefined && nodes.length > 0 && (
        <details class="pairing-help">
          <summary>Pair another machine</summary>
          <HowToPair mayDecide={mayDecide} />
        </details>
      )}
    </Panel>
  );
}

const NoNodes = ({ mayDecide }: { mayDecide: boolean }) => (
  <div class="panel-none">
    <span class="mark big">
      <Icon name="node" />
    </span>
    <h2>No nodes are paired</h2>
    <p>A node is another machine on which the agent can run commands: a build server, a small computer, a laptop.</p>
    <HowToPair mayDecide={mayDecide} />
  </div>
);

function HowToPair({ mayDecide }: { mayDecide: boolean }) {
  const command = `headgate node run --gateway ${location.origin} --name NAME`;
  return (
    <>
      <p>Run this on the other machine, with the address at which it can reach this one:</p>
      <div class="pairing-command">
        <code>{command}</code>
        <CopyButton text={command} />
      </div>
      <p>
        {mayDecide
          ? 'It shows a code and waits for five minutes. Compare it with the code shown here, then approve.'
          : 'It shows a code and waits for approval. Your access is read-only: pairing requires the approve scope.'}
      </p>
    </>
  );
}
