import { UsageError } from '../../../start-error.ts';
import { toUnknownCall } from '../../terminal/tool-lines.ts';
import type { ChatFiles } from '../chat-files.ts';
import type { LineEditor } from '../input/line-editor.ts';
import type { Talk } from '../talk.ts';
import { listFiles } from './list-files.ts';
import { MentionKeys } from './mention-keys.ts';
import { isShellLine, type RunningShell, ShellCommands, toOutputFile } from './shell-commands.ts';

interface PersonInputDeps {
  talk(): Talk;
  files: Pick<ChatFiles, 'isLocal'>;
  editor: LineEditor;
  /** The shell that runs commands. */
  shell: string;
  onChange(): void;
}

/**
 * What a person adds to messages from the folder of the workstream: mentioned files and the output of commands. Both need
 * the daemon to be on this machine, because the folder is on the daemon's.
 */
export class PersonInput {
  readonly #deps: PersonInputDeps;
  readonly #shell: ShellCommands;
  readonly #mentions: MentionKeys;

  constructor(deps: PersonInputDeps) {
    this.#deps = deps;
    this.#shell = new ShellCommands(deps.onChange);
    const { editor, onChange } = deps;
    this.#mentions = new MentionKeys({ editor, onChange, list: () => listFiles(deps.talk().settings.workdir) });
  }

  /** The command that runs. */
  get running(): RunningShell | undefined {
    return this.#shell.current;
  }

  /** The files that can be mentioned as it was typed so far. */
  offered(): readonly string[] {
    return this.#deps.files.isLocal ? this.#mentions.find() : [];
  }

  /** Completes the mention that is being typed. False if there is none. */
  complete(): boolean {
    return this.#deps.files.isLocal && this.#mentions.complete();
  }

  /** Ends the command that runs. False if none does. */
  stop(): boolean {
    return this.#shell.stop();
  }

  /** Runs `!COMMAND`; its output goes with the next message. Undefined for any other line. */
  run(line: string): Promise<void> | undefined {
    return isShellLine(line) ? this.#run(line) : undefined;
  }

  /** Attaches the files that a message mentions to the next message. */
  async attachMentioned(text: string): Promise<void> {
    const { talk, files } = this.#deps;
    const { readMentioned } = await import('./mentioned-files.ts'); // rarely used, and slow to load
    const mentioned = files.isLocal ? await readMentioned(text, talk().settings.workdir) : [];
    await talk().attachFiles(mentioned.map(({ mention, file }) => ({ label: mention.text, file })));
  }

  async #run(line: string): Promise<void> {
    const { talk, files, shell } = this.#deps;
    if (!files.isLocal) {
      throw new UsageError('!COMMAND runs in the folder of the workstream, so it needs the daemon of this machine.');
    }
    const { settings, transcript, attachOutput } = talk();
    const end = await this.#shell.run(line, { workdir: settings.workdir, shell });
    const { output, isDone } = end;
    await attachOutput(toOutputFile(end));
    transcript.printResult(toUnknownCall(`!${end.command}`), { output, outcome: isDone ? 'done' : 'failed' });
    transcript.print([`(${end.words}; the output goes with your next message)`]);
  }
}
