import { z } from 'zod';

/** Why a watch is no longer active. */
export const WATCH_ENDS = [
  'fired', // its condition held, or its output changed
  'max_polls',
  'condition_error', // its condition could not be evaluated
  'not_allowed', // a poll was forbidden, or would have asked
  'rights', // the credential that created it has ended, or no longer perceives the workstream
  'failed', // a poll could not be run, such as in a folder that was replaced
  'cancelled',
  'reset', // a new conversation began in its workstream
  'closed', // its workstream was closed or deleted
] as const;
/** One of WATCH_ENDS. */
export type WatchEnd = (typeof WATCH_ENDS)[number];

/** A command that is polled for a workstream. Times are ISO 8601; a time that there is not is an empty text. */
export const watchShape = {
  watch_id: z.string(),
  ws_id: z.string(),
  node_id: z.string(),
  name: z.string(),
  command: z.string(),
  interval_secs: z.int().min(1),
  /** Empty: it fires when the output changes. */
  stop_on: z.string(),
  max_polls: z.int().min(1),
  poll_count: z.int().min(0),
  /** Polls that were due while the daemon was down, or while another poll ran. */
  missed_polls: z.int().min(0),
  last_output: z.string(),
  /** Null: no poll has ended, or the last one did not exit by itself. */
  last_exit_code: z.int().nullable(),
  last_poll: z.string(),
  next_poll: z.string(),
  active: z.int().min(0).max(1),
  /** Why it ended; clients should accept further reasons. */
  end: z.enum(WATCH_ENDS).optional(),
  end_reason: z.string().optional(),
  created: z.string(),
  created_by: z.string(),
  updated: z.string(),
};

/** A watch, as lists show it. */
export const Watch = z.object(watchShape).meta({ id: 'Watch' });
export type Watch = z.infer<typeof Watch>;
