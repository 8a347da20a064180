import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { App, Desk } from '../app.ts';
import { ChannelBoard } from './channel-board.ts';
import { DeliveryLog } from './delivery-log.ts';

/** What the view of channels shows. */
export interface ChannelPanel {
  board: ChannelBoard;
  log: DeliveryLog;
}

const opened = new WeakMap<Desk, ChannelPanel>();

/** That of a desk, made when it is first shown: its code is not loaded before. */
export function channelPanelOf(app: App, desk: Desk): ChannelPanel {
  const known = opened.get(desk);
  if (known) return known;
  const { client } = desk;
  const mayManage = () => app.rights.manageChannels.peek();
  const panel = { board: new ChannelBoard({ client, timers: systemTimers, mayManage }), log: new DeliveryLog(client) };
  opened.set(desk, panel);
  return panel;
}
