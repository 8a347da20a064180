import { wordsOf } from '../../protocol/words-of.ts';
import { connectTo, placeOfNats, subjectOf } from './nats-connection.ts';

export { NatsTrouble } from './nats-connection.ts';

/** A server that this machine can log in to. */
export interface InspectedNats {
  /** What it is, for people. */
  text: string;
  /** The longest message that it accepts, in bytes. */
  mostBytes: number;
  /** Why messages of daemons do not arrive; undefined: they do. */
  refusal: string | undefined;
}

/** Logs in, and sends itself a message as daemons do. Throws a `NatsTrouble` if that is impossible. `own`: an id that no daemon has. */
export async function inspectNats({ url, own }: { url: string; own: string }): Promise<InspectedNats> {
  const connection = await connectTo(url, { own });
  const { info } = connection;
  const refusals = new Set<string>();
  const following = (async () => {
    for await (const status of connection.status()) if (status.type === 'error') refusals.add(wordsOf(status.error));
  })();
  let received = 0;
  connection.subscribe(subjectOf(own), {
    callback(error) {
      if (!error) received += 1;
    },
  });
  try {
    connection.publish(subjectOf(own), 'there?');
    await connection.flush(); // what the server says to both comes before its answer to this
  } catch (error) {
    refusals.add(wordsOf(error));
  }
  await connection.close();
  await following;
  return {
    text: `NATS ${info?.version} at ${placeOfNats(url)}`,
    mostBytes: info?.max_payload ?? 0,
    refusal: [...refusals].join('; ') || (received === 0 ? 'what a daemon sends does not arrive' : undefined),
  };
}
