import { withoutSecrets } from '../../../secret-text.ts';
import type { ToolCall } from '../../message.ts';
import type { ToolDefinition } from '../../providers/model.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { Toolbox } from '../../tools/toolbox.ts';

/** The tools of a judge: they read files of the working directory, and no secrets. */
export interface JudgeTools {
  definitions: readonly ToolDefinition[];
  /** What the judge reads as the result. Rejects only with the signal's reason. */
  run(call: ToolCall, signal: AbortSignal): Promise<string>;
}

const NAMES = new Set(['read_file', 'list_directory']);
const MOST_BYTES = 32 * 1_024;
const MOST_ENTRIES = 200;

const BLOCKED_ROOTS = /^\/(etc|root|proc|sys|dev)(\/|$)/;
const BLOCKED_FOLDERS = /(^|\/)\.(ssh|gnupg|aws|config)(\/|$)/;
const KEYS = /\.(pem|key|crt|cer|der|p12|pfx|jks|keystore|kdbx)$/i;

/** Takes those of the agent's tools that only read. A call that would need approval is refused. */
export function createJudgeTools(
  toolbox: Toolbox,
  context: (signal: AbortSignal) => Promise<Omit<ToolContext, 'signal'>>,
): JudgeTools {
  return {
    definitions: toolbox.definitions().filter(({ name }) => NAMES.has(name)),
    async run(call, signal) {
      if (!NAMES.has(call.name)) return 'Unknown tool.';
      const prepared = await toolbox.prepare(call, { ...(await context(signal)), signal });
      signal.throwIfAborted();
      if (prepared.kind === 'refused') return prepared.reason;
      const paths = (prepared.reading?.effects ?? []).map(({ path = '' }) => path);
      const isBlocked = paths.some((path) => BLOCKED_FOLDERS.test(path) || KEYS.test(path) || BLOCKED_ROOTS.test(path));
      if (prepared.needsApproval || isBlocked) return 'The judge may not read this.';
      const { output } = await prepared.execute({
        signal,
        maxOutputBytes: MOST_BYTES,
        onOutput: () => undefined,
        onProcess: async () => undefined,
      });
      signal.throwIfAborted();
      return withoutSecrets(call.name === 'list_directory' ? firstLines(output) : output);
    },
  };
}

const firstLines = (text: string): string => text.split('\n').slice(0, MOST_ENTRIES).join('\n');
