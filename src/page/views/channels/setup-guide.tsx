import type { ComponentChildren } from 'preact';
import { CopyButton } from '../text/code.tsx';

/** How a channel is set up, step by step. */
export function SetupGuide({ channel }: { channel: string }) {
  const guide = GUIDES[channel];
  return guide ? guide() : <p>It is set up in config.json. The documentation of channels has the steps.</p>;
}

const GUIDES: Record<string, () => ComponentChildren> = { telegram: TelegramGuide };

function TelegramGuide() {
  return (
    <ol class="setup-steps">
      <li>
        In Telegram, write <code>/newbot</code> to{' '}
        <a href="https://t.me/BotFather" target="_blank" rel="noreferrer">
          @BotFather
        </a>
        . It asks for a name, and gives you a token.
      </li>
      <li>
        On the machine of Headgate, store the token. The command asks for it, and keeps it only if Telegram accepts it:
        <Command text="headgate channel login" />
        Or put it into an environment variable, and name the variable in config.json. Then start Headgate again:
        <Command text="{ channels: { telegram: { botTokenEnv: 'TELEGRAM_BOT_TOKEN' } } }" />
      </li>
      <li>Write to the bot. It answers with a code that is valid for one hour.</li>
      <li>
        Enter the code below, under People, or in a terminal:
        <Command text="headgate channel pair CODE" />
      </li>
    </ol>
  );
}

const Command = ({ text }: { text: string }) => (
  <span class="pairing-command">
    <code>{text}</code>
    <CopyButton text={text} />
  </span>
);
