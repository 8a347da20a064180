import { startWith } from './start-with.ts';

// A daemon on a machine without bubblewrap.
await startWith({ bwrap: { kind: 'missing' } });
