import { createArrivals } from '../support/clients/arrivals.ts';
import type { StreamFrame } from './evidence.ts';
import type { Recorder } from './recording/recorder.ts';

/** Readers who connect after the end: one without a cursor, and one with a cursor of another log. */
export async function readAfresh({ wsId, recorder }: { wsId: string; recorder: Recorder }): Promise<void> {
  for (const [reader, lastEventId] of [['latecomer'], ['stranger', 'another:1']] as const) {
    const frames = createArrivals<StreamFrame>();
    const stream = recorder.stream({ reader, wsId, lastEventId, onFrame: frames.add });
    await frames.until(({ data }) => data.type === 'history', 'the history');
    stream.close();
    await stream.ended;
  }
}
