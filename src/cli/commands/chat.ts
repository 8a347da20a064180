import path from 'node:path';
import { createInterface } from 'node:readline';
import { systemTimers } from '../../../protocol/client/timers.ts';
import type { ConnectionStatus, GatewayClient } from '../../../protocol/client/ws-client.ts';
import type { Mode } from '../../../protocol/events/modes.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { systemClock } from '../../clock.ts';
import { EXIT } from '../../exit-codes.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { findHostTimeZone } from '../../host-time-zone.ts';
import { randomIds } from '../../ids.ts';
import { readVersion } from '../../version.ts';
import { type ChatFiles, createChatFiles } from '../chat/chat-files.ts';
import { toChatHeader, toNotices } from '../chat/chat-header.ts';
import { chooseWorkstream } from '../chat/choose-workstream.ts';
import { readInputHistory, writeInputHistory } from '../chat/input/input-history.ts';
import { InteractiveChat } from '../chat/interactive-chat.ts';
import { PipedChat } from '../chat/piped-chat.ts';
import { createTabs } from '../chat/tabs/chat-tabs.ts';
import { openClient, resolveTarget, type TargetFlags } from '../connect.ts';
import type { Here } from '../local-time.ts';
import type { ContinueFlags } from '../run/continued-workstream.ts';
import type { ImageTask } from '../terminal/images/draw-image.ts';
import { createGraphicsAnswers, type Graphics, toGraphicsQuestion } from '../terminal/images/graphics.ts';
import { shellJob } from '../terminal/job.ts';
import { type ColourChoice, createPaint, wantsColours } from '../terminal/paint.ts';
import { enterRawTerminal, type RawTerminal } from '../terminal/raw-terminal.ts';
import { toSafeText } from '../terminal/safe-text.ts';
import { createLiveScreen, createPlainScreen, type LiveView, type Screen } from '../terminal/screen.ts';
import type { Sheet } from '../terminal/sheet.ts';
import { wrapWords } from '../terminal/wrap.ts';

export interface ChatFlags extends TargetFlags, ContinueFlags {
  ws?: string | undefined;
  new?: boolean | undefined;
  workdir?: string | undefined;
  model?: string | undefined;
  mode?: Mode | undefined;
  machineLabel?: readonly string[] | undefined;
  color: ColourChoice;
}

interface ChatOptions {
  flags: ChatFlags;
  around: Surroundings;
  root: URL;
}

/** A conversation in the terminal, or over pipes. Resolves when the person leaves. */
export async function chat({ flags, around, root }: ChatOptions): Promise<void> {
  const target = await resolveTarget(flags, around);
  const link = createLink();
  const client = await openClient({ target, version: await readVersion(root) }, link.onStatus);
  try {
    const wsId = await chooseWorkstream(client, flags, around);
    const files = createChatFiles(target, around);
    const { stdin, stdout } = process;
    const isDumb = around.environment.TERM === 'dumb';
    const paint = createPaint(wantsColours(flags.color, { isTerminal: stdout.isTTY, environment: around.environment }));
    if (stdin.isTTY && stdout.isTTY && !isDumb) {
      const historyFile = target.home === undefined ? undefined : path.join(target.home, 'input-history.json');
      await chatOnTerminal({
        client,
        link,
        wsId,
        paint,
        files,
        historyFile,
        environment: around.environment,
        userHome: around.userHome,
        shell: around.environment.SHELL || '/bin/sh',
        imageCode: {
          workerUrl: new URL('dist/image-worker.js', root),
          webpUrl: new URL('dist/webp-decoder.wasm', root),
        },
      });
    } else await chatOverLines({ client, wsId, paint, files });
  } finally {
    client.close();
  }
}

/** The connection as the chat sees it. */
interface Link {
  status: ConnectionStatus;
  onStatus(status: ConnectionStatus): void;
  /** Called with every later status. */
  listen(listener: () => void): void;
}

function createLink(): Link {
  let listener = (): void => undefined;
  const link: Link = {
    status: { kind: 'connecting' },
    onStatus(status) {
      link.status = status;
      listener();
    },
    listen(next) {
      listener = next;
    },
  };
  return link;
}

const here = (): Here => ({ nowMs: systemClock.now(), tz: findHostTimeZone() });

const newKey = () => randomIds.id('cli');

interface ChatDeps {
  client: GatewayClient;
  wsId: string;
  paint: Sheet['paint'];
  files: ChatFiles;
}

interface TerminalDeps extends ChatDeps {
  environment: Surroundings['environment'];
  link: Link;
  historyFile: string | undefined;
  userHome: string;
  shell: string;
  /** Where the code that draws images lies in this build. */
  imageCode: { workerUrl: URL; webpUrl: URL };
}

async function chatOnTerminal(deps: TerminalDeps): Promise<void> {
  const { link, wsId, historyFile, environment } = deps;
  const { stdin, stdout } = process;
  const left = Promise.withResolvers<void>();
  left.promise.catch(() => undefined); // awaited later
  const leave = () => left.resolve();
  let view = (): LiveView => ({ lines: [] });
  const screen = createLiveScreen({ output: stdout, timers: systemTimers, view: () => view() });
  const history = historyFile === undefined ? [] : await readInputHistory(historyFile);
  const answers = createGraphicsAnswers();
  const tabs = openTabs({ deps, screen, leave, history, graphics: () => answers.graphics });
  const terminal = enterRawTerminal({
    input: stdin,
    write: (text) => stdout.write(text),
    onKey: (text, key) => tabs.current?.onKey(text, key),
    onPaste: (text) => tabs.current?.onPaste(text),
    filter: answers.filter,
    stopping: { job: shellJob, onStop: () => screen.clear(), onContinue: () => screen.invalidate() },
  });
  stdout.write(toGraphicsQuestion(environment));
  link.listen(() => {
    if (link.status.kind === 'closed') left.reject(link.status.error ?? new Error('the connection was closed'));
    tabs.current?.onChange();
  });
  using _terminal = restoring({ terminal, screen, tabs, leave });
  tabs.open(wsId);
  await tabs.current?.talk.opened;
  view = () => tabs.current?.view() ?? { lines: [] };
  screen.invalidate();
  await left.promise;
}

interface TabParts {
  deps: TerminalDeps;
  screen: Screen;
  leave(): void;
  history: readonly string[];
  graphics(): Graphics | undefined;
}

type Tabs = ReturnType<typeof createTabs<InteractiveChat>>;

function openTabs({ deps, screen, leave, history, graphics }: TabParts): Tabs {
  const { client, link, paint, files, historyFile, userHome, shell, imageCode } = deps;
  const sheet = (): Sheet => ({ paint, columns: screen.columns });
  let lines = history;
  let tellsNotices = false;
  const tabs: Tabs = createTabs({
    client,
    onChange: () => screen.invalidate(),
    start: (wsId, draft) => {
      const chat = new InteractiveChat({
        client,
        wsId,
        connection: () => link.status,
        screen,
        sheet,
        history: lines,
        onHistory(next) {
          lines = next;
          if (historyFile !== undefined) void writeInputHistory(historyFile, next);
        },
        draft,
        userHome,
        shell,
        tabs,
        timers: systemTimers,
        here,
        writeToTerminal: (sequence) => void process.stdout.write(sequence),
        newKey,
        files,
        onOpen(talk) {
          if (tabs.rows.length > 1) screen.print(['']);
          talk.transcript.print(toChatHeader(talk.settings, sheet()));
          if (!tellsNotices) tellNotices({ client, tabs, sheet });
          tellsNotices = true;
        },
        async onImages(images, { transcript }) {
          const [{ showImages }, { drawImage }] = await Promise.all([
            import('../chat/images/show-images.ts'), // both are rarely used
            import('../terminal/images/draw-image.ts'),
          ]);
          const draw = (task: ImageTask) => drawImage(task, { ...imageCode, timers: systemTimers });
          const download = (id: string) => files.downloadAttachment(wsId, id);
          await showImages(images, { graphics, screen, download, draw, print: (rows) => transcript.print(rows) });
        },
        onLeave: leave,
      });
      chat.talk.opened.catch((error: unknown) => screen.print([paint('red', `✖ ${toSafeText(wordsOf(error))}`)]));
      return chat;
    },
  });
  return tabs;
}

interface Held {
  terminal: RawTerminal;
  screen: Screen;
  tabs: Tabs;
  leave(): void;
}

/** Restores the terminal, also when a signal ends the process. */
function restoring({ terminal, screen, tabs, leave }: Held): Disposable {
  process.once('SIGINT', leave).once('SIGTERM', leave).once('SIGHUP', leave);
  return {
    [Symbol.dispose]() {
      process.off('SIGINT', leave).off('SIGTERM', leave).off('SIGHUP', leave);
      tabs.end();
      screen.close();
      terminal.leave();
    },
  };
}

interface NoticeDeps {
  client: GatewayClient;
  tabs: Tabs;
  sheet(): Sheet;
}

/** Prints each notice once, current and later ones, in the tab that is shown. */
function tellNotices({ client, tabs, sheet }: NoticeDeps): void {
  const told = new Set<string>();
  const tell = (health: Parameters<typeof toNotices>[0]) => {
    const fresh = toNotices(health).filter((notice) => !told.has(notice));
    for (const notice of fresh) told.add(notice);
    const { paint, columns } = sheet();
    tabs.current?.talk.transcript.print(
      fresh.flatMap((notice) => wrapWords(paint('yellow', notice), columns, { first: '! ', rest: '  ' })),
    );
  };
  client.on('health', tell);
  client.call('health', {}).then(tell, () => undefined); // the next `health` event brings it
}

async function chatOverLines({ client, wsId, paint, files }: ChatDeps): Promise<void> {
  const screen = createPlainScreen((text) => process.stdout.write(text));
  const piped = new PipedChat({
    client,
    wsId,
    screen,
    sheet: () => ({ paint, columns: screen.columns }),
    newKey,
    files,
    here,
    tell: (line) => process.stderr.write(`headgate: ${line}\n`),
  });
  try {
    await piped.talk.opened;
    const end = await piped.run(createInterface({ input: process.stdin }));
    if (end === 'unanswered') {
      process.stderr.write(
        'headgate: The input has ended, but an approval is pending. Answer it on the page or in another chat.\n',
      );
      process.exitCode = EXIT.denied;
    }
  } finally {
    piped.close();
  }
}
