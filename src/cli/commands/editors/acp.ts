import { Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { EXIT } from '../../../exit-codes.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { randomIds } from '../../../ids.ts';
import { readVersion } from '../../../version.ts';
import { createAgent } from '../../acp/agent.ts';
import { createDaemonLink } from '../../acp/daemon-link.ts';
import type { TargetFlags } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';

interface AcpOptions {
  flags: AcpFlags;
  around: Surroundings;
  root: URL;
}

export interface AcpFlags extends TargetFlags {
  model?: string | undefined;
}

/** Larger messages end the connection. An image is at most 6 MiB, which base64 makes 8 MiB. */
const MOST_MESSAGE_BYTES = 32 * 1024 * 1024;

/**
 * Speaks the Agent Client Protocol on stdin and stdout until the editor closes them. Nothing else is written to stdout.
 */
export async function serveEditor({ flags, around, root }: AcpOptions): Promise<void> {
  const tell = (line: string) => void process.stderr.write(`headgate: ${toSafeText(line)}\n`);
  const version = await readVersion(root);
  const link = createDaemonLink({ flags, around, version, tell });
  const agent = createAgent({ link, version, model: flags.model, newKey: () => randomIds.id('acp'), tell });
  const stream = ndJsonStream(Writable.toWeb(process.stdout), toWebStream(process.stdin), {
    maxMessageBytes: MOST_MESSAGE_BYTES,
  });
  const connection = agent.connect(stream);
  await connection.closed;
  const { reason } = connection.signal;
  if (reason instanceof Error && reason.name === 'MessageTooLargeError') {
    tell(`${reason.message}.`);
    process.exitCode = EXIT.failed;
  }
  link.close();
}

/** Node's own conversion has another type, and keeps the process alive when its reader gives up. */
function toWebStream(input: NodeJS.ReadStream): ReadableStream<Uint8Array> {
  const chunks = input[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => void input.destroy(),
  });
}
