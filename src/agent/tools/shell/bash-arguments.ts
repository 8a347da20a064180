import { z } from 'zod';
import type { Connection } from '../../../egress/proxy/egress-proxy.ts';
import type { Ids } from '../../../ids.ts';
import type { BackgroundCommands } from '../../background/background-commands.ts';
import type { OutputGuard } from '../../guard/output-guard.ts';
import type { NameReader } from '../../permissions/resolve-links.ts';
import type { ProcessRunner } from '../../process/runner.ts';
import type { SandboxTier } from '../../process/sandbox.ts';

/** The arguments of `bash`, as models write them. */
export const BashArguments = z.strictObject({
  command: z.string().min(1).max(100_000).describe('The command, for bash -c'),
  timeout_secs: z
    .int()
    .min(1)
    .max(600)
    .optional()
    .describe('Timeout in seconds; two minutes unless configured otherwise'),
  sandbox: z
    .literal('off')
    .optional()
    .describe(
      'Asks the person to run this one command outside the sandbox, for what cannot work in it, such as docker (a local socket). Needs reason',
    ),
  reason: z.string().min(1).max(500).optional().describe('Why it must run outside the sandbox, for the person'),
  run_in_background: z
    .boolean()
    .optional()
    .describe(
      'Returns at once while the command goes on, for servers, watchers and long builds. bash_output shows its output and waits for it, kill_shell ends it. timeout_secs then limits it only if given',
    ),
});
/** The arguments of `bash`. */
export type BashArguments = z.infer<typeof BashArguments>;

/** What `bash` works with. */
export interface BashDependencies {
  runner: ProcessRunner;
  /** Folder for outputs that are too long to show. */
  outputs: string;
  ids: Ids;
  /** All output passes it before it is shown or stored. */
  guard: OutputGuard;
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome?: string | undefined;
  live?: LiveCommandSettings;
  audit?: CommandAudit;
  background: Pick<BackgroundCommands, 'start'>;
  /** The names that commands may use. Default: those of this machine. */
  names?: NameReader;
}

/** Read at each call. */
interface LiveCommandSettings {
  /** For calls without their own timeout. */
  readonly commandTimeoutSecs: number;
  /** For commands in the background without their own timeout. */
  readonly backgroundMaxSecs: number;
  readonly sandboxTier: SandboxTier;
  /** `tools.network.allow`. */
  readonly allowedHosts: readonly string[];
}

/** Is told what commands do. */
export interface CommandAudit {
  /** What a sandboxed command connects to, once for each host. */
  onConnection(connection: CommandConnection): void;
  /** A command that leaves the sandbox, before it starts. */
  onOutside(command: OutsideCommand): void;
}

/** A connection of a sandboxed command, and the call that it belongs to. */
export interface CommandConnection extends Connection {
  wsId: string;
  callId: string;
}

/** A command that runs outside the sandbox because a person allowed it. */
export interface OutsideCommand {
  wsId: string;
  callId: string;
}
