import type { Watch } from '../../../protocol/events/watch.ts';
import type { CallGrants } from '../tools/tool.ts';

/** The most watches of a workstream that are active at once. */
export const MAX_ACTIVE = 5;

/** A watch as the agent asks for it. */
export interface NewWatch {
  wsId: string;
  name: string;
  command: string;
  intervalSecs: number;
  /** Undefined: it fires when the output changes. */
  stopOn: string | undefined;
  maxPolls: number;
  /** Who allowed the call that creates it; undefined: nobody was asked. */
  allowed: CallGrants['allowed'];
}

/** The stored watches, as the tool needs them. */
export interface WatchBook {
  /** Undefined: there are five active ones already. */
  create(watch: NewWatch): Promise<Watch | undefined>;
  /** The active ones of a workstream, oldest first. */
  active(wsId: string): Promise<Watch[]>;
  /** Ends a watch of the workstream and its poll, if one runs. Undefined: there is no active one with this name or id. */
  cancel(wsId: string, name: string): Promise<Watch | undefined>;
}
