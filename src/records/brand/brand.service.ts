import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import type { BrandValues } from '#platform/config/brand-values.js';
import { Settings } from '#platform/config/settings.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { isInTransaction, outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { detached } from '#platform/telemetry/log-scope.js';
import { withoutLogo, type Brand } from '#platform/web/layout/brand.js';
import { BRAND } from './brand.resource.js';
import { BrandRepository, type StoredBrand, LogosRepository } from './brand.repository.js';
import { createHash } from 'node:crypto';

const DIGEST = /^[0-9a-f]{64}$/;

/** Logos of the service and of clients, by their digest, so that browsers may cache them forever. */
@Injectable()
export class LogosService {
  constructor(private readonly repository: LogosRepository) {}

  /** Stores an image that `logoFrom` has made, in the transaction that then refers to it. Returns its id. */
  async store(image: Buffer): Promise<string> {
    const id = createHash('sha256').update(image).digest('hex');
    await this.repository.store(id, image);
    return id;
  }

  /** The PNG; undefined for an unknown one. */
  async find(id: string): Promise<Buffer | undefined> {
    return DIGEST.test(id) ? this.repository.imageOf(id) : undefined;
  }

  /** The existing PNGs among these ids. */
  async findAll(ids: string[]): Promise<Map<string, Buffer>> {
    return ids.length === 0 ? new Map() : this.repository.imagesOf(ids);
  }
}

/** The channel on which the database announces every change. */
const CHANNEL = 'brand_changed';

/** After how long a change is seen without announcements, or after a failed read. */
const READ_AGAIN_MS = 5_000;

/**
 * The brand of the service (contract §14): from the settings, overridden by what an admin has saved. Every instance caches it, so
 * that no page waits for it, and reads it again when the database announces a change.
 */
@Injectable()
export class BrandService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(BrandService.name);
  private brand: Brand;
  private readAt = -Infinity;
  private reading: Promise<void> = Promise.resolve();
  private retry: NodeJS.Timeout | undefined;
  private lastProblem: string | undefined;
  private stopped = false;

  constructor(
    private readonly repository: BrandRepository,
    private readonly logos: LogosService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly listener: Listener,
  ) {
    this.brand = withoutLogo(settings.brand);
    listener.listen(CHANNEL, {
      onConnected: () => this.readBehind(),
      onAnnouncement: () => this.readBehind(),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.read();
  }

  beforeApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.retry);
  }

  /** The current brand; the same object until it changes. */
  get current(): Brand {
    if (!this.listener.isConnected && performance.now() - this.readAt > READ_AGAIN_MS) this.readBehind();
    return this.brand;
  }

  /** Saves the values of an admin. A value equal to that in the settings follows the settings from then on. */
  change(values: BrandValues, actor: Actor): Promise<void> {
    const { brand: defaults } = this.settings;
    const stored = Object.fromEntries(
      Object.entries(values).map(([field, value]) => [
        field,
        value === defaults[field as keyof BrandValues] ? null : (value ?? ''),
      ]),
    );
    return this.store(() => this.save(stored, actor));
  }

  /** The current brand, read from the database. */
  async readStored(): Promise<Brand> {
    return this.shown(await this.repository.read());
  }

  /** Sets the logo to an image from `logoFrom`, or removes it. */
  changeLogo(image: Buffer | null, actor: Actor): Promise<void> {
    return this.store(async () => {
      const logoId = image === null ? null : await this.logos.store(image);
      await this.save({ logoId }, actor);
    });
  }

  /** The brand with these values, without saving them. */
  with(values: BrandValues): Brand {
    return { ...values, logoId: this.brand.logoId };
  }

  private async store(work: () => Promise<void>): Promise<void> {
    await this.transactions.run(work);
    // The next page of this instance shows it. Inside of another transaction it is not committed yet, and will be announced.
    if (!isInTransaction()) await this.read();
  }

  private async save(changes: Partial<StoredBrand>, actor: Actor): Promise<void> {
    const before = await this.repository.lock();
    const difference = changesBetween(BRAND.auditView(before), BRAND.auditView({ ...before, ...changes }));
    if (!difference) return;
    await this.repository.update(changes);
    await this.audit.record(actor, {
      action: 'brand.updated',
      subjectType: 'brand',
      subjectId: 'brand',
      ...difference,
    });
  }

  /** Reads run one after the other, so that the last result is the newest. */
  private read(): Promise<void> {
    this.readAt = performance.now();
    const next = this.reading
      .catch(() => undefined)
      .then(async () => this.take(await outsideTransaction(() => this.repository.read())));
    this.reading = next;
    return next;
  }

  /** The same in the background. */
  private readBehind(): void {
    if (this.stopped) return;
    detached(() => this.read()).then(
      () => (this.lastProblem = undefined),
      (error: Error) => this.readLater(error.message),
    );
  }

  /** A repeated problem is logged once. */
  private readLater(problem: string): void {
    if (this.stopped) return;
    if (problem !== this.lastProblem) this.logger.warn(`The brand could not be read: ${problem}`);
    this.lastProblem = problem;
    this.retry ??= detached(() =>
      setTimeout(() => {
        this.retry = undefined;
        this.readBehind();
      }, READ_AGAIN_MS).unref(),
    );
  }

  private take(stored: StoredBrand | null): void {
    const brand = this.shown(stored);
    if (JSON.stringify(brand) !== JSON.stringify(this.brand)) this.brand = brand;
  }

  private shown(stored: StoredBrand | null): Brand {
    const { brand: defaults } = this.settings;
    const shown = <K extends keyof BrandValues>(field: K): BrandValues[K] | null => {
      const value = stored?.[field] ?? null;
      return value === null ? defaults[field] : value === '' ? null : (value as BrandValues[K]);
    };
    return {
      name: shown('name') ?? defaults.name,
      accentColor: shown('accentColor'),
      supportEmail: shown('supportEmail'),
      privacyUrl: shown('privacyUrl'),
      termsUrl: shown('termsUrl'),
      footer: shown('footer'),
      logoId: stored?.logoId ?? null,
    };
  }
}
