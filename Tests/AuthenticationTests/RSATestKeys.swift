/// RSA keys for tests only, made with `openssl genpkey`: JWTKit makes EC and Ed25519 keys, but no
/// RSA ones.
enum RSATestKeys {
  static let first = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDvOgNbhoqZkMn7
    OE2PPHXQ5CPUr6eX/ExZpi13BKMaY0Rp1L3vlHwgbzvSbOZv3vk8mTaCScmBWpuz
    yWkl0ac8wlIqUcnbymqdpXV21/5lp2M1KXk3pxhmiIAtjGnW+aGJilbjaKCVEwsa
    QUy6jNFTHD1Xff7JIY9QkyVZLhSUBrJRdBYWKBDpQGWQ2I5jv734v8mwgxP+xkw+
    pqBskO31TCrZ/j5fckiTIZLNg+sncJnE/u+8xODiAuIdGTu/lIbiB4n0uV01ie9Q
    cyztqVXi6wfKdb8DC9E7KHp7AILKnYMrMwn0X6XvKmTozMFB0KV3b6j8fS8KdgRh
    hBc18aqzAgMBAAECggEASzH5DDPmLQ8N7iFsf7GJdve/K4NrMqLjfOp3MAoNGqZJ
    QtrUORJ7Udak/yer5043GY0vTRTUegx5FLIikvirkLWkDhlXUfb2PEdd/NU36cwL
    qxI2QAAN82zEnYydWC1vUURiu2iP0UwDGWWdMKZCxdUCkxXPmHksCy+1daq+XSiC
    CuTjskK/ikQ1mDF4rggk3ikuBwTuy2ryHJOi8ZavSYUIJNGYn2ict0nLQDT1yYic
    dB0snCfGx6wPOO2vWG9Q/9cBwPjabNiJxHpeLq9Ft90P5bcbejpCD7ZK1+kH7X9j
    WpUB1htIOc6gEGkVFO4KQCbZAiSYggTg5BrDAc7BgQKBgQD/4U/zo0B5fgCBf5RI
    7Mt0oeQrHivocIwcvpwLxVq+7ug5tnHSX9W6gI6i5iGbFv3nCn1X9YzQveyS89M6
    6a5m8f98HSIshPhDLXfuKsp+uBorOZwjrYQLfRbhqInIW8yN8gHbB3D/lsUhdhyX
    6CGZACZ5IeOYoaa8Nl3ythNrCQKBgQDvVrQbzGZTjczd2U5mrSBkTW//Ztu4hnN7
    EDmC/ci206JBi2sMpQbhYrkU9jHSa1XkYOktSRpmcTMnboGmfQlM+/YjnWYimd1y
    HSnwNVTkzFWvsauPyPtw6jSo2cXEZJWxyzteTxfUT/WYKeZ5gWl3di27uNPpo5kQ
    Ly4B8eDK2wKBgBUVY5kXooBgOXpyIK3BlSIPFNXYrpWAcIsNyZ3OrSN+W/QlbEuB
    SgMMBLS3cZ1tz43x91IAEZJBk/Sn0ofQKWaiGgMIA4DXk/01CeS98eFvGfjlzk/C
    RFcN/4yobnHr3nbzseNyQYVNzwBq0wBRSDNrJ8BjYnV5HFv1vtf42LDBAoGBAMvd
    /uzu3vqs/qS6RZ4QOlc13wCejOpRHGznFRYPNrkE7GEIcNcEeyfg/+ZrD2U9KJyw
    L+7zJhm8suYTqzw1pYZ92NvdZvJyPb7GOMLzqqx5oUNXA9wmRoeX9+McHOl9BEW9
    54Qdux6OPZSvnDJDmaK4d5w/g8KwJ+ExTu85KVGhAoGAS23orzJDhUUJCnPRkFIf
    qKOBiyH7mv7eVGc/CdKzUXNLcNc/urh6Y4roblFd9SCK51e1TEXGfAmvOKKylg9v
    +S/Ro81NRmohd8DmhjlbkuJrGC5agqGLwSuvOZ4JIoNhgTniiXJ6p4v5Pkj0CTOM
    g/LDnssCy6C+3u3nqGTtOuY=
    -----END PRIVATE KEY-----
    """

  static let second = """
    -----BEGIN PRIVATE KEY-----
    MIIEvwIBADANBgkqhkiG9w0BAQEFAASCBKkwggSlAgEAAoIBAQDRb3rTB+DfUDaV
    2osBgQBR1LCA8AGpzotrxfTP4N568w24SSzxaD/KOwZeawAMAOr3PnE28/WTs4A+
    UcbvzNEaSdqc+WVovgghXtew2eh/9iVST9by5Bbe3wG3L3d1wgrUeY+4WCGsFhRz
    99k+PAeKWp36AM3zb3jqRJ4Q9it8r+c2I9DgkiLfD2JTyptllPipvxbZ08CR071Q
    4Bb1HlmZok/iZcFbqQPrfwLB15tF7ekidJXSkxWi5xVGimygN4cShv8EPoTIGXnh
    k1gRz010S6ogQn7AbRaOTvlwUltmfSbi+sFezdHghWjgVq4K2iAAsymoWn0CCeXb
    bv6qz6GVAgMBAAECggEAImMb9xdVkEUC2WL7LOGJ9GWoH1uI4mEj2iu0EQe6b9SF
    fasiInb79k/vsUP/S3lBGxxZCW1P9pLj7RePQuNNt/PFXb3DLUn6WsRQRNzahFwd
    b6DlSZcyvCBAj1vPUPntvkpBU0LBMJilfg8FT+caU9iiFKDaL+yvHUPr8hwBMuUA
    zyhBVNLah23VIphrTBzgBk5Tn4fx7fn7YkoV5lW1QoaJiBlB0UIkoqb7YSSCyYuf
    kuHH3OoLXr6ODGHiS3PPJ00bk3aTcF2x0cjb0tArASs9K6aD0kmxl4Fp64x4vvVa
    vjvfzYseujQaAMkOcJChtTcbMO0Jf8mwysWF2Qr1AQKBgQDuaj6Hjv3w8B9DyUqa
    bMN8vHu1dK20LxfA/cv7FWVfXGdm0udqORykfGlw+B07TVFVWiS+D6Y55rgGDlNP
    EcTEywDY/8hHdqmCTj4MDs2JO6Xz7r35b2QxyZmx+fSEM+5MIH4R0IoyBGwWVcIp
    O+vk685rD2hSsanPYLnMDcsnFQKBgQDg4gsUBozrKUCXAcwZ2ClT+lb5SlKuQnPR
    4BxS9pU3waRlpjZ1bpuyUFHwCzn6YilI3YljAPxKsCjOs16alJ6XPUahVb0+yFoi
    e4nJ31hGHE6I0LV1fQ8hMSt8Lvkjr7HeorAe06znYPxsdsjso9gKGaTqj9o7zecM
    9sTWVukwgQKBgQCHpS0UZVe3yHaRU6o9eBo1EuvzjoHx3UVPiVaP8Vluyx0NlHsT
    pZDVSO+Y1aGUBuZ6gEIdXLv/f3Q+BdKCTyK7sKA31jd16V6CA9ArfhSUurotsiym
    CSlhZkkqyILE4OL4rxfrPNITqQ5yGrLQUQZihYM4yFhbjDeIBIlRPpvSDQKBgQCd
    fK/VbmDxrwoUtqWA0+jdbsvJ+Uq9zrvdlt0/HICTc4D1ztkElFllHurC+Jm5x1Sy
    OrMkKmSEyalKWENAbiRCNh9ojOrjNNwqmel8/nSLZPd6yO7LQLF/xTd22E6Rt1ER
    YU2FySelQj6ElwtO7c82A4+C1Qs4JpJQeeCPWn4kAQKBgQDBIgU05n8M78j0OORk
    zbsrGeFR9aByWS1d7wLEtJ+OYbTA7B1x8GTsxeBNDHFAXbvsuWjDZfxD5+1bJOC+
    q3T1KKJ7LYz+NjZyZFrKWFiExgGaxv9O4Lir0CDqts/wOF8U66KbVP4chcW9zE8y
    rqwEUPzgKu/mGGfiZZhhBeIgnw==
    -----END PRIVATE KEY-----
    """
}
