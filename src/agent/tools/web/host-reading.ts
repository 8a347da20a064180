import type { CommandReading } from '../../permissions/command-reading.ts';

/** The reading of a call that connects to one host and does nothing else. */
export const toHostReading = (host: string): CommandReading => ({
  commands: [],
  effects: [{ kind: 'network', target: host, certain: true }],
  gaps: [],
});
