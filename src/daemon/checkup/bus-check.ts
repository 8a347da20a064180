import { LONGEST_MESSAGE_BYTES } from '../../gateway/workers/links/message-pieces.ts';
import { randomIds } from '../../ids.ts';
import { type Finding, ok, problem } from './finding.ts';

const NAME = 'nats';

/** Checks that the NATS server of `store.bus` carries what daemons send to each other. */
export async function checkBus(url: string): Promise<Finding> {
  // Not with what a daemon loads: the command line would get all of that, too.
  const { inspectNats, NatsTrouble } = await import('../../bus/inspect-nats.ts');
  try {
    const { text, mostBytes, refusal } = await inspectNats({ url, own: randomIds.secret(8) });
    if (refusal !== undefined) return problem(NAME, `${text}: ${refusal}`, PERMIT);
    if (mostBytes >= LONGEST_MESSAGE_BYTES) return ok(NAME, text);
    return problem(
      NAME,
      `${text} refuses messages of more than ${mostBytes} bytes, and daemons send up to ${LONGEST_MESSAGE_BYTES}`,
      'Remove max_payload from the configuration of the server, which has 1MB then.',
    );
  } catch (error) {
    if (error instanceof NatsTrouble) return problem(NAME, error.message, error.mend);
    throw error;
  }
}

const PERMIT =
  'Permit the user to publish and subscribe to headgate.> in the configuration of the server (docs/operating.md, "Several machines, all working").';
