import type { App, Desk } from '../../state/app.ts';
import { firstOf } from '../../state/dashboard/board-figures.ts';
import type { Panel } from '../../state/workstreams.ts';

/** The nodes and the chat services, with links to their views. */
export function Machines({ app, desk }: { app: App; desk: Desk }) {
  const nodes = desk.nodes.nodes.value ?? [];
  const channels = app.health.value?.channels ?? [];
  const { rows, left } = firstOf(nodes);
  const open = (panel: Panel) => () => {
    desk.workstreams.shown.value = panel;
  };
  return (
    <section class="board-part" aria-labelledby="board-machines">
      <h2 id="board-machines">Nodes and channels</h2>
      <div class="board-now">
        <div class="board-card">
          <h3>
            Nodes <span class="soft">{nodes.length}</span>
          </h3>
          {nodes.length === 0 ? (
            <p class="soft">No other machine lends commands.</p>
          ) : (
            <ul>
              {rows.map(({ nodeId, displayName, connected }) => (
                <li key={nodeId} class={connected ? undefined : 'bad'}>
                  <bdi>{displayName ?? nodeId.slice(0, 8)}</bdi>
                  {connected ? ': connected' : ': not connected'}
                </li>
              ))}
              {left > 0 && <li class="soft">{`and ${left} more`}</li>}
            </ul>
          )}
          <button type="button" class="quiet link" onClick={open('nodes')}>
            Show nodes
          </button>
        </div>
        <div class="board-card">
          <h3>
            Channels <span class="soft">{channels.length}</span>
          </h3>
          {channels.length === 0 ? (
            <p class="soft">No chat service is set up.</p>
          ) : (
            <ul>
              {channels.map(({ channel, state, why, waiting }) => (
                <li key={channel} class={why === undefined ? undefined : 'bad'}>
                  {`${channel}: ${state}${why === undefined ? '' : ` (${why})`}`}
                  {waiting > 0 && `, ${waiting} waiting`}
                </li>
              ))}
            </ul>
          )}
          <button type="button" class="quiet link" onClick={open('channels')}>
            Show channels
          </button>
        </div>
      </div>
    </section>
  );
}
