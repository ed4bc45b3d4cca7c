import { readFileSync } from 'node:fs';

/** A unit of systemd: what each setting of its sections was given, in order. */
export class SystemdUnit {
  private readonly settings: { name: string; value: string }[];

  constructor(readonly file: string) {
    this.settings = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => ({ name: line.slice(0, line.indexOf('=')), value: line.slice(line.indexOf('=') + 1) }));
  }

  all(name: string): string[] {
    return this.settings.filter((setting) => setting.name === name).map(({ value }) => value);
  }

  /** The settings whose names are none of these. */
  except(...names: string[]): string[] {
    return this.settings
      .filter(({ name }) => !names.includes(name))
      .map(({ name, value }) => `${name}=${value}`);
  }

  /** The files of its secrets, by their ids. */
  get credentials(): Record<string, string> {
    return Object.fromEntries(
      this.all('LoadCredential').map((value) => value.split(':') as [string, string]),
    );
  }

  /** Its environment, with `%d` for the folder of its secrets, and the words of its environment files last. */
  environment(credentials: string): Record<string, string> {
    const words = this.all('Environment').flatMap((value) => value.replaceAll('%d', credentials).split(' '));
    const lines = this.all('EnvironmentFile').flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    );
    return Object.fromEntries(
      [...words, ...lines].map((word) => [
        word.slice(0, word.indexOf('=')),
        word.slice(word.indexOf('=') + 1),
      ]),
    );
  }
}
