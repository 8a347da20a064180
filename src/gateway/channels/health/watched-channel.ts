import type { ChannelRow } from '../../../../protocol/methods/channels/channel.ts';
import type { ChannelReport } from '../channel-report.ts';

/** A chat service, as far as its health goes. */
export interface WatchedChannel {
  channel: string;
  /** As people call it. */
  label: string;
  report(): Omit<ChannelReport, 'state'> & Pick<ChannelRow, 'state'>;
  /** Received messages that are not handled yet. */
  backlog(): number;
  /** How long polls may fail before people are told; undefined: the service is not polled. */
  alertMs(): number | undefined;
}
