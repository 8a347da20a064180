import { z } from 'zod';
import { SearchConfig } from './search-config.ts';

/** `example.com`, `*.example.com`, `localhost:5432`, `10.0.0.7:8080` or `[fd00::1]:443`. */
export const AllowedHost = z
  .string()
  .max(300)
  .regex(
    /^(\*\.)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$/,
    'must be a host, such as example.com, *.example.com or localhost:5432',
  );

const HomePath = z
  .string()
  .max(1_000)
  .refine(
    (text) => text !== '' && !text.startsWith('/') && !text.split('/').includes('..'),
    'must be a path relative to the home folder, such as .config/foo',
  );

const LimitsConfig = z.object({
  processes: z.int().min(16).max(100_000).default(512).describe('Processes of one command at once.'),
  memoryMb: z
    .int()
    .min(64)
    .max(100_000_000)
    .optional()
    .describe('Memory of one command in MiB. Default: 4096, or half of the machine’s memory if that is less.'),
  fileMb: z
    .int()
    .min(1)
    .max(100_000_000)
    .default(16_384)
    .describe('The largest file that a command can write, in MiB.'),
  tmpMb: z.int().min(1).max(1_000_000).default(1_024).describe('The size of /tmp of one command in MiB.'),
});

/** How commands run. */
export const ToolsConfig = z.object({
  sandbox: z
    .enum(['auto', 'off', 'required'])
    .default('auto')
    .describe('Whether commands need a sandbox. `off` is read as `auto`.'),
  tier: z
    .enum(['workspace', 'read-only'])
    .default('workspace')
    .describe('What commands can write in the sandbox: the folders of the workstream, or nothing.'),
  homePaths: z
    .array(HomePath)
    .max(1_000)
    .default([])
    .describe('Paths of your home that sandboxed commands can read, in addition to toolchains.'),
  network: z
    .object({
      allow: z
        .array(AllowedHost)
        .max(1_000)
        .default([])
        .describe('Hosts that sandboxed commands and web_fetch may connect to, in addition to package registries.'),
    })
    .prefault({}),
  diagnostics: z
    .array(
      z.object({
        files: z.string().min(1).max(500).describe('A pattern for changed files, as in .gitignore: *.ts'),
        command: z.string().min(1).max(10_000).describe('A command for bash; "$@" are the changed files that match.'),
        timeoutSecs: z.int().min(1).max(300).default(30).describe('Its time limit in seconds.'),
      }),
    )
    .max(50)
    .default([])
    .describe('Commands that look for problems in files that the agent has changed; it reads what they print.'),
  search: SearchConfig.prefault({}),
  limits: LimitsConfig.prefault({}),
  timeoutSecs: z.int().min(1).max(3_600).default(120).describe('Default time limit of a command in seconds.'),
  background: z
    .object({
      maxSecs: z
        .int()
        .min(1)
        .max(604_800)
        .default(28_800)
        .describe('Time limit of a background command in seconds, if the model sets none.'),
    })
    .prefault({}),
});
