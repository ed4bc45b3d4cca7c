import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { LogoEntity } from './logo.entity.js';

@Injectable()
export class LogosRepository {
  constructor(@InjectRepository(LogoEntity) private readonly logos: Repository<LogoEntity>) {}

  /** Stores an image. An existing one is refreshed, so that no purge removes it before the transaction refers to it. */
  async store(id: string, image: Buffer): Promise<void> {
    await this.logos
      .createQueryBuilder()
      .insert()
      .values({ id, image, storedAt: () => 'now()' })
      .orUpdate(['stored_at'], ['id'])
      .execute();
  }

  async imageOf(id: string): Promise<Buffer | undefined> {
    const found = await this.logos.findOne({ select: { id: true, image: true }, where: { id } });
    return found?.image;
  }

  async imagesOf(ids: string[]): Promise<Map<string, Buffer>> {
    const found = await this.logos.find({ select: { id: true, image: true }, where: { id: In(ids) } });
    return new Map(found.map(({ id, image }) => [id, image]));
  }
}
