import type { ComponentChildren } from 'preact';
import { CopyButton } from '../text/code.tsx';

/** How a channel is set up, step by step. */
export function SetupGuide({ channel }: { channel: string }) {
  const guide = GUIDES[channel];
  return guide ? guide() : <p>It is set up in config.json. The documentation of channels has the steps.</p>;
}

const GUIDES: Record<string, () => ComponentChildren> = { telegram: TelegramGuide, whatsapp: WhatsAppGuide };

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

function WhatsAppGuide() {
  return (
    <ol class="setup-steps">
      <li>
        Headgate needs an address that Meta can reach by HTTPS. Meta's terms do not allow general assistants: read{' '}
        docs/channels.md first.
      </li>
      <li>
        Put the access token, the secret of the app and a token that you choose into environment variables, and name
        them in config.json:
        <Command text="{ channels: { whatsapp: { phoneNumberId: '…', accessTokenEnv: 'WA_TOKEN', appSecretEnv: 'WA_SECRET', verifyTokenEnv: 'WA_VERIFY' } } }" />
      </li>
      <li>
        In the settings of the app at Meta, enter the address and the token that you chose, and choose <b>messages</b>:
        <Command text="https://YOUR-HOST/v1/api/channels/whatsapp/webhook" />
      </li>
      <li>
        Write to the number. It answers with a code, which you enter below, under People, or in a terminal:
        <Command text="headgate channel pair CODE --channel whatsapp" />
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
