import { useSignal } from '@preact/signals';
import type { ChannelRow } from '../../../../protocol/methods/channels/channel.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import type { Tested } from '../../state/channels/channel-board.ts';
import { channelPanelOf } from '../../state/channels/channel-panel.ts';
import { channelName, isSetUp, stateAdvice, stateOf } from '../../state/channels/channel-words.ts';
import { toClock, toMoment } from '../../state/text/moment.ts';
import { Icon } from '../icons.tsx';
import { SetupGuide } from './setup-guide.tsx';

interface CardProps {
  app: App;
  desk: Desk;
  row: ChannelRow;
}

/** A chat service: whether it works, why not, what goes on there, and how to set it up. */
export function ChannelCard({ app, desk, row }: CardProps) {
  const { channel, bot, sinceMs } = row;
  const name = channelName(channel);
  const { words, tone } = stateOf(row);
  const isOn = isSetUp(row);
  const nowMs = app.now(); // it is read, and drawn, every few seconds
  const since = toClock(sinceMs, { nowMs, timeZone: app.timeZone });
  const facts = [bot !== undefined && `@${toVisibleLine(bot)}`, isOn && `${words} since ${since}`];
  return (
    <li class={`panel-row channel tone-${tone}`}>
      <div class="account-row">
        <div class="node-what">
          <h3>
            {name}
            <span class="tag">{words}</span>
          </h3>
          <p class="account-facts">
            {isOn ? facts.filter((fact) => fact !== false).join(' · ') : `Nobody can write from ${name} yet.`}
          </p>
        </div>
        {isOn && app.rights.manageChannels.value && <TestButton app={app} desk={desk} channel={channel} />}
      </div>
      <Trouble row={row} />
      {isOn && <Figures row={row} nowMs={nowMs} />}
      {isOn ? (
        <details class="channel-help">
          <summary>{`How to set up ${name}`}</summary>
          <SetupGuide channel={channel} />
        </details>
      ) : (
        <div class="channel-help">
          <SetupGuide channel={channel} />
        </div>
      )}
    </li>
  );
}

/** Why it does not work. It stays in place, so that screen readers announce changes. */
function Trouble({ row }: Pick<CardProps, 'row'>) {
  const { why } = row;
  const { tone } = stateOf(row);
  const told = [why !== undefined && toVisibleLine(why), stateAdvice(row)].filter(Boolean);
  return (
    <p class={`channel-trouble tone-${tone}`} role="status">
      {told.length > 0 && <Icon name="warning" />}
      {told.length > 0 && <span>{told.join(' ')}</span>}
    </p>
  );
}

function Figures({ row, nowMs }: { row: ChannelRow; nowMs: number }) {
  const { lastInAtMs, lastOutAtMs, backlog, waiting, pending, blocked } = row;
  const moment = (atMs: number | undefined) => (atMs === undefined ? 'none yet' : toMoment(atMs, nowMs));
  const figures: [label: string, value: string | number, isHigh?: boolean][] = [
    ['Last message in', moment(lastInAtMs)],
    ['Last message out', moment(lastOutAtMs)],
    ['Not handled yet', backlog],
    ['Waiting to be sent', waiting],
    ['People waiting', pending, pending > 0],
    ['Refused messages', blocked],
  ];
  return (
    <dl class="channel-figures">
      {figures.map(([label, value, isHigh = false]) => (
        <div key={label} class={isHigh ? 'high' : undefined}>
          <dt>{label}</dt>
          <dd>{value.toLocaleString()}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Asks the service whether it accepts the stored token. */
function TestButton({ app, desk, channel }: { app: App; desk: Desk; channel: string }) {
  const { board } = channelPanelOf(app, desk);
  const outcome = useSignal<Tested | undefined>(undefined);
  const isBusy = useSignal(false);
  const test = async () => {
    if (isBusy.peek()) return;
    isBusy.value = true;
    outcome.value = undefined; // a screen reader then announces the next outcome even if it is the same
    outcome.value = await board.test(channel);
    isBusy.value = false;
  };
  const tested = outcome.value;
  return (
    <>
      <div class="row-actions">
        <button
          type="button"
          aria-disabled={isBusy.value}
          aria-label={`Test ${channelName(channel)}`}
          onClick={() => void test()}
        >
          {isBusy.value ? 'Testing…' : 'Test'}
        </button>
      </div>
      <p class={`channel-tested ${tested?.isGood === false ? 'problem' : 'soft'}`} role="status">
        {tested?.words}
      </p>
    </>
  );
}
